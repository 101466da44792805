mod keys;
mod ladder;
mod sizes;
