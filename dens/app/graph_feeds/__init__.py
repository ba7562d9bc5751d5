"""A folder of feeds in, a feed for each subscription out: how a content management system is connected."""
