from ramify.boosting.partitions.dask_cluster import find_partitions, is_partitioned
from ramify.boosting.partitions.fitting import fit_partitions

__all__ = ["find_partitions", "fit_partitions", "is_partitioned"]
