"""Many jobs at once, in processes of this machine or on a cluster, with what is done kept in a folder."""
