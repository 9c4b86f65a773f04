"""What nothing in the library imports: command line, CLUS, studies and the web service."""

__all__: list[str] = []
