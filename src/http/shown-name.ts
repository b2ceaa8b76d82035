const HIDDEN = '\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}'

/** Joiners between characters that are not ASCII: parts of Persian and Indic words, and of emoji. */
const JOINED = `[^\\u0000-\\u007f${HIDDEN}](?:[\\u200c\\u200d][^\\u0000-\\u007f${HIDDEN}])+`

/**
 * The pattern of names that people choose and others read: of accounts, workspaces, tokens,
 * channels and so on. Control characters, marks of direction, other invisible characters (Cf), line
 * and paragraph separators could change what is around a name, or hide a part of it. PostgreSQL
 * rejects NUL and lone surrogates.
 */
export const SHOWN_NAME = `^(?:[^${HIDDEN}]|${JOINED})*$`

/** As `SHOWN_NAME`, for a name that must not be blank. */
export const SHOWN_NAME_NOT_BLANK = SHOWN_NAME.replace('^', '^(?=.*\\S)')

const PATTERN = new RegExp(SHOWN_NAME, 'u')
const LETTER = '(?![\\0-\\x7f])[\\p{L}\\p{M}\\p{So}\\p{Sk}]'
const JOINER = `(?<=${LETTER})[\\u200c\\u200d](?=${LETTER})`
const INVISIBLE = new RegExp(`(?:(?!${JOINER})[${HIDDEN}])+`, 'gu')

/** Whether a name that no schema has validated can be stored and shown. */
export function isShownName(text: string, maxLength: number): boolean {
  return text.length <= maxLength && PATTERN.test(text)
}

const MAX_CHARS = 200

/** Makes one line of a text that may come from a stranger, without invisible characters. */
export function oneLine(text: string, maxChars = MAX_CHARS): string {
  const plain = text.replaceAll(INVISIBLE, ' ').replaceAll(/\s+/g, ' ').trim()
  const characters = Array.from(plain)
  return characters.length <= maxChars ? plain : `${characters.slice(0, maxChars - 1).join('')}…`
}

/** Characters of a name in an email to a stranger. The rest could be an advertisement. */
const MAX_CHARS_IN_MAIL = 60

/** The dots that browsers accept in host names, between what could be parts of one (RFC 3490, 3.1). */
const LINKED_DOT = /(?<=[\p{L}\p{M}\p{N}_-])[.\u3002\uff0e\uff61](?=[\p{L}\p{M}\p{N}_-])/gu

/**
 * A name in an email to a person who may not know the one who chose it. It has nothing that mail
 * programs make a link of: neither a URL nor a host name.
 */
export function nameInMail(name: string): string {
  return oneLine(withoutLinks(name), MAX_CHARS_IN_MAIL)
}

/** A text in which mail programs find no links. */
export function withoutLinks(text: string): string {
  // Invisible characters first: without them, the parts of a link could come together.
  return text.replaceAll(INVISIBLE, ' ').replaceAll('://', ' ').replaceAll(LINKED_DOT, '. ')
}
