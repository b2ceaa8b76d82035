/** What copied text has, and nobody sees: soft hyphens, zero-width spaces, marks of direction. */
const INVISIBLE =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/g
const QUOTES = '"“”„‘’‚«»'
const EDGES = new RegExp(`^[\\s${QUOTES}]+|[\\s,;${QUOTES}]+$`, 'g')

/** Removes what nobody sees. */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE, '')
}

/** Removes quotes, blanks and separators around a name. */
export function bareText(text: string): string {
  return text.replace(EDGES, '')
}

/** `192.0.2.0/24`, `2001:db8::/32`, `192.0.2.1-9` */
const NETWORK = /^(?:\d{1,3}(?:\.\d{1,3}){3}|[\da-f]*:[\da-f:.]*)(?:\/\d{1,3}|-[\d.]+)$/i

/** Whether a text is a network or a range of addresses, which is no host. */
export function isNetwork(text: string): boolean {
  return NETWORK.test(text)
}

/** A host in lower case, with plain full stops (RFC 3490, 3.1) and none around it. */
export function plainHost(host: string): string {
  return host
    .normalize('NFKC')
    .replaceAll('。', '.')
    .replace(/^\.|\.$/g, '')
    .toLowerCase()
}
