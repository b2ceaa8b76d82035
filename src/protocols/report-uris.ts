import { domainToASCII } from 'node:url'

/** The addresses for reports that a damaged list names. */
export type MeantUris = {
  /** URIs that can be published, each once. */
  uris: string[]
  /** Items that cannot be read for certain. */
  strange: string[]
}

/** Longer items are no addresses, and take long to read. */
const MAX_ITEM_CHARACTERS = 500
const ADDRESS = /[^ ,;:<>()"@\\/?]+@[^ ,;:<>()"@\\/?!=]+/gu

/** Reads a list of `mailto:` and `https:` URIs, after `cleanText`. */
export function readMeantUris(list: string): MeantUris {
  const found: MeantUris = { uris: [], strange: [] }
  for (const item of list.split(/[,;]/).map((one) => one.trim())) {
    if (item === '') continue
    const read = /^https?:/i.test(item) ? webUris : mailUris
    const uris = item.length > MAX_ITEM_CHARACTERS ? null : read(item)
    if (uris === null) found.strange.push(item)
    for (const uri of uris ?? []) if (!found.uris.includes(uri)) found.uris.push(uri)
  }
  return found
}

function webUris(item: string): string[] | null {
  return /^[\x21-\x7E]+$/.test(item) && URL.canParse(item) && new URL(item).hostname ? [item] : null
}

const MAIL_URI =
  /^(mailto:[\w!#$%&'*+=^`{|}~.-]+@[a-z\d.-]+(?:\?[\x21-\x7E]*?)?)(?:!\d{1,12}[kmgt]?)?$/i

/** Usually one; null when anything else stands beside addresses. */
function mailUris(item: string): string[] | null {
  const whole = MAIL_URI.exec(item)?.[1]
  if (whole?.includes('?')) return [whole]
  const bare = item.replace(/[<(]/g, '').replaceAll(/[>)]/g, '')
  // Without a mark behind it, “mailto” may be a part of the address.
  const withoutScheme = bare.replaceAll(/(^| )mail ?to ?[ :=/]+/gi, ' ')
  const addresses = withoutScheme.match(ADDRESS) ?? []
  const rest = withoutScheme
    .replaceAll(ADDRESS, '')
    .replaceAll(/!\d{1,12}[kmgt]?(?= |$)/gi, '')
    .replaceAll(/(^| )[a-z]{1,9}:(?= |$)| (?:and|or)(?= )/gi, '')
  if (addresses.length === 0 || rest.trim() !== '') return null
  const uris = addresses.map(mailUri)
  return uris.includes(null) ? null : (uris as string[])
}

/** RFC 6068, and a host name with at least two labels; the rest of the query is not for reports. */
function mailUri(address: string): string | null {
  const at = address.lastIndexOf('@')
  const [local, host] = [address.slice(0, at), address.slice(at + 1).replace(/\.$/, '')]
  const ascii = /^[\x21-\x7E]+$/.test(host) ? host : domainToASCII(host)
  const isHost =
    /^(?:[a-z\d](?:[a-z\d-]*[a-z\d])?\.)+(?:[a-z]{2,63}|xn--[a-z\d-]+)$/i.test(ascii) &&
    ascii.length <= 253 &&
    ascii.split('.').every((label) => label.length <= 63)
  const isLocal = /^[\w!#$%&'*+=^`{|}~.-]+$/.test(local) && !/^mail ?to/i.test(local)
  return isHost && isLocal ? `mailto:${local}@${ascii}` : null
}
