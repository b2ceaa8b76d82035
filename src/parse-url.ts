type ParsedUrl = { url: URL; problem: null } | { url: null; problem: string }

const MAX_PORT = 65_535
/** The scheme and the port of a text that is written as a URL. */
const PARTS = /^([a-z][a-z0-9+.-]*:)\/\/[^/?#]*?(?::(\d+))?(?:[/?#].*)?$/is

/**
 * Parses a URL that a person wrote.
 * @param protocols those that are allowed, such as `https:`; the first one is named
 * @returns the URL, or what is wrong with exactly this text; it completes “The URL …”
 */
export function parseUrl(text: string, protocols: readonly string[]): ParsedUrl {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url !== null && protocols.includes(url.protocol)) return { url, problem: null }
  const [, scheme = '', port] = PARTS.exec(text) ?? []
  const beginnings = protocols.map((protocol) => `${protocol}//`).join(' or ')
  if (!protocols.includes(scheme.toLowerCase()))
    return { url: null, problem: `must be a URL that begins with ${beginnings}` }
  if (port !== undefined && Number(port) > MAX_PORT)
    return { url: null, problem: `must not have the port ${port}: ports end at ${MAX_PORT}` }
  return { url: null, problem: 'must have a valid host name or address' }
}
