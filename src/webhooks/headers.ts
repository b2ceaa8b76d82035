/** A header as it was sent: its name in the sender's letters, its value one byte a character. */
export type Header = [name: string, value: string]

/** `rawHeaders` in pairs: order, letters and repetitions as they were sent. */
export function pairHeaders(raw: string[]): Header[] {
  const headers: Header[] = []
  for (let i = 0; i + 1 < raw.length; i += 2) headers.push([raw[i] as string, raw[i + 1] as string])
  return headers
}

/** The first value under this name, in any letters. */
export function findHeader(headers: Header[], name: string): string | undefined {
  const wanted = name.toLowerCase()
  return headers.find(([other]) => other.length === wanted.length && other.toLowerCase() === wanted)?.[1]
}
