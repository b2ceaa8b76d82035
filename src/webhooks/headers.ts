/**
 * A header as it was sent: the name in its original case, the value with one byte per character.
 */
export type Header = [name: string, value: string]

/** Converts `rawHeaders` to pairs and keeps order, case and repetitions. */
export function pairHeaders(raw: string[]): Header[] {
  const headers: Header[] = []
  for (let i = 0; i + 1 < raw.length; i += 2) headers.push([raw[i] as string, raw[i + 1] as string])
  return headers
}

/** Returns the first value of a header, ignoring case. */
export function findHeader(headers: Header[], name: string): string | undefined {
  const wanted = name.toLowerCase()
  return headers.find(
    ([other]) => other.length === wanted.length && other.toLowerCase() === wanted,
  )?.[1]
}
