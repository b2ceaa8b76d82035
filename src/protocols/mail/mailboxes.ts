import { decodeWords } from './mime-header.ts'
import { domainNameOf } from './message.ts'

/** One address of an address field; `domain` is null for what is no address. */
export type Mailbox = { name: string; address: string; domain: string | null }

const MAX_MAILBOXES = 200

/**
 * The addresses of a field’s value (RFC 5322, 3.4), with their names decoded. Groups count as their
 * members.
 * @param latin1 unfolded
 */
export function parseMailboxes(latin1: string): Mailbox[] {
  return splitList(latin1.replaceAll(/[\t\r\n]/g, ' '))
    .map((item) => item.trim())
    .filter((item) => item !== '')
    .slice(0, MAX_MAILBOXES)
    .map(readMailbox)
}

function readMailbox(item: string): Mailbox {
  const [, before = '', inBrackets] = /^(.*?)<([^<>]*)>[^<>]*$/.exec(item) ?? []
  const address = (inBrackets ?? item.replaceAll(/\([^()]*\)/g, '')).trim()
  const comment = inBrackets === undefined ? (/\(([^()]*)\)/.exec(item)?.[1] ?? '') : ''
  const name = (before.trim() || comment).replace(/^"(.*)"$/s, '$1').replaceAll(/\\(.)/g, '$1')
  const parts = /^[^\s@]+@([^\s@]+)$/.exec(address)
  return { name: decodeWords(name).trim(), address, domain: domainNameOf(parts?.[1] ?? '') }
}

/** Splits at commas, semicolons and the colon of a group, outside quotes, comments and brackets. */
function splitList(text: string): string[] {
  const items: string[] = []
  let item = ''
  let isQuoted = false
  let depth = 0
  let isBracketed = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (character === '\\') {
      item += character + (text[++at] ?? '')
      continue
    }
    if (character === '"' && depth === 0) isQuoted = !isQuoted
    else if (!isQuoted && character === '(') depth++
    else if (!isQuoted && character === ')' && depth > 0) depth--
    else if (!isQuoted && depth === 0 && character === '<') isBracketed = true
    else if (!isQuoted && depth === 0 && character === '>') isBracketed = false
    const isPlain = !isQuoted && depth === 0 && !isBracketed
    if (isPlain && (character === ',' || character === ';')) {
      items.push(item)
      item = ''
    } else if (isPlain && character === ':') item = ''
    else item += character
  }
  return [...items, item]
}
