/**
 * Ranks an entry of a search.
 * @param words further words that match, in any case
 * @param text what was typed, in lower case
 * @returns 3: the name begins with the text; 2: a word of it does; 1: each word occurs; 0: no match
 */
export function rankOf(name: string, words: string, text: string): number {
  const lower = name.toLowerCase()
  if (lower.startsWith(text)) return 3
  if (lower.includes(` ${text}`)) return 2
  const whole = `${lower} ${words.toLowerCase()}`
  return text.split(/\s+/).every((word) => whole.includes(word)) ? 1 : 0
}
