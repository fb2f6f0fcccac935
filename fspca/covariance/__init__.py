"""The covariance as something one asks questions of, and the sources that answer them."""

from fspca.covariance.covariance import Covariance, Matrix, as_covariance
from fspca.covariance.sources import Source

__all__ = ["Covariance", "Matrix", "Source", "as_covariance"]
