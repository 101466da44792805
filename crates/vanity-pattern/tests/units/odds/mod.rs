mod chances;
mod probability;
