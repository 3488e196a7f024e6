/// Values in numbered places that are used again: a freed place is the next one taken.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    places: Vec<Option<T>>,
    free: Vec<usize>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Puts a value into a place, and returns the place's number.
    pub(crate) fn insert(&mut self, value: T) -> usize {
        if let Some(index) = self.free.pop()
            && let Some(place) = self.places.get_mut(index)
        {
            *place = Some(value);
            return index;
        }
        self.places.push(Some(value));
        self.places.len() - 1
    }

    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        self.places.get_mut(index)?.as_mut()
    }

    /// Empties a place.
    pub(crate) fn remove(&mut self, index: usize) -> Option<T> {
        let value = self.places.get_mut(index)?.take()?;
        self.free.push(index);
        Some(value)
    }

    /// All values, by the number of their places.
    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.places.iter().flatten()
    }
}
