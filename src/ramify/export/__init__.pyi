from ramify.export.onnx_models import to_onnx

__all__ = ["to_onnx"]
