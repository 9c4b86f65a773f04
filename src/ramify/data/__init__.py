"""X of any kind as rows of numbers and categories: columns, frames and dates."""

__all__: list[str] = []
