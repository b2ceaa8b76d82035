import type { BlacklistItem } from '../../diagnostics/shapes.ts'
import { paint } from '../terminal-text.ts'

/** A line at a terminal that counts the answers of blocklists; nothing elsewhere. */
export function createCounter(out: NodeJS.WriteStream, total: number) {
  let checked = 0
  let listed = 0
  const write = (text: string) => out.isTTY && out.write(`\r\u001b[K${text}`)
  return {
    count(this: void, { status }: BlacklistItem): void {
      checked += 1
      if (status === 'listed') listed += 1
      const soFar =
        listed === 0 ? 'no listings' : `${listed} ${listed === 1 ? 'listing' : 'listings'}`
      write(paint('dim', `  ${checked} of ${total} checked, ${soFar} so far.`, out))
    },
    end: (): void => void write(''),
  }
}
