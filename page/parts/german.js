// The texts in German, by the English text.

export const german = {};
