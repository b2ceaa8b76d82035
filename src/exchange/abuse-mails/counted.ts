/** `1 address`, `12 addresses`. */
export function counted(count: number, word: string, words = `${word}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? word : words}`
}
