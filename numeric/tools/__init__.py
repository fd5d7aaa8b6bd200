"""Tools for any network and any points: flips of a prediction, stiff flows, layered networks, slopes."""
