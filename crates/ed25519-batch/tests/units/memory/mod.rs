mod caches;
mod huge_pages;
mod limits;
