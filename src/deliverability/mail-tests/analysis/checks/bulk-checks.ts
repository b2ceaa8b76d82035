import {
  failed,
  listed,
  notChecked,
  passed,
  quoted,
  type MailCheck,
  type Outcome,
} from '../finding.ts'
import type { MailFacts } from '../mail-facts.ts'

const group = 'bulk' as const
const NO_FIELD = 'The mail has no List-Unsubscribe field.'

/**
 * The URIs of List-Unsubscribe as receivers read them (RFC 2369, 2): white space within the brackets
 * does not count, and the field ends before the first item that is no URI in brackets.
 * @returns `rest`: what they ignore
 */
function readUnsubscribe({ values }: MailFacts): { uris: string[]; rest: string } {
  const uris: string[] = []
  let rest = values('list-unsubscribe').join(', ').trim()
  for (;;) {
    const [item, uri] = /^<([^<>]*)>\s*(?:\([^()]*\)\s*)*(?:,\s*|$)/.exec(rest) ?? []
    if (item === undefined || uri === undefined) return { uris, rest }
    // A word of RFC 2047 is not allowed here, and is not decoded.
    if (/=\?[^?\s]+\?[bq]\?/i.test(uri)) return { uris, rest }
    uris.push(uri.replaceAll(/\s/g, ''))
    rest = rest.slice(item.length)
  }
}

function checkUnsubscribe(facts: MailFacts): Outcome {
  if (facts.values('list-unsubscribe').length > 0) return passed('List-Unsubscribe is there.')
  return failed(
    NO_FIELD,
    'Newsletters and other mail to many need it; personal and transactional mail does not.',
  )
}

function checkSyntax(facts: MailFacts): Outcome {
  const [value] = facts.values('list-unsubscribe')
  if (value === undefined) return notChecked(NO_FIELD)
  const { uris, rest } = readUnsubscribe(facts)
  const usable = uris.filter((uri) => /^(?:https?|mailto):/i.test(uri) && URL.canParse(uri))
  if (usable.length > 0 && usable.length === uris.length && rest === '')
    return passed(`It leads to ${listed(uris.map((uri) => uri.split('?')[0]!.slice(0, 100)))}.`)
  if (usable.length > 0 && rest !== '')
    return failed(
      `Receivers ignore a part of List-Unsubscribe: ${quoted(rest)}.`,
      'Write each URL in angle brackets, without encoding, with a comma between them: <https://example.com/u/123>, <mailto:unsubscribe@example.com>.',
    )
  return failed(
    `List-Unsubscribe is ${quoted(value)}.`,
    'Write URLs in angle brackets: <https://example.com/u/123>, <mailto:unsubscribe@example.com>.',
  )
}

function checkOneClick(facts: MailFacts): Outcome {
  const hasField = facts.values('list-unsubscribe').length > 0
  const post = facts.values('list-unsubscribe-post').map((value) => value.trim())
  if (!hasField) return notChecked(NO_FIELD)
  const uris = readUnsubscribe(facts).uris.filter((uri) => /^https?:/i.test(uri))
  if (uris.length === 0)
    return failed(
      'List-Unsubscribe has no https URL, so there is no unsubscribing with one click.',
      'Add an https URL to List-Unsubscribe, and “List-Unsubscribe-Post: List-Unsubscribe=One-Click”.',
    )
  if (!uris.some((uri) => /^https:/i.test(uri)))
    return failed('The URL of List-Unsubscribe is not https.', 'Use an https URL.')
  if (post.length === 0)
    return failed(
      'List-Unsubscribe-Post is missing.',
      'Add “List-Unsubscribe-Post: List-Unsubscribe=One-Click” and answer the POST without asking again.',
    )
  return post.length === 1 && post[0] === 'List-Unsubscribe=One-Click'
    ? passed('The fields are as RFC 8058 wants them. The URL was not opened.')
    : failed(
        `List-Unsubscribe-Post is ${quoted(post.join(', '))}.`,
        'Write exactly “List-Unsubscribe=One-Click”.',
      )
}

async function checkSigned(facts: MailFacts): Promise<Outcome> {
  const names = ['list-unsubscribe', 'list-unsubscribe-post'].filter(
    (name) => facts.values(name).length > 0,
  )
  if (names.length === 0) return notChecked(NO_FIELD)
  const signatures = await facts.signatures()
  const valid = signatures.filter(({ result, signature }) => result === 'pass' && signature)
  if (valid.length === 0)
    return signatures.some(({ result }) => result === 'temperror')
      ? notChecked('The signatures could not be verified.')
      : failed(
          'No valid DKIM signature covers List-Unsubscribe.',
          'Sign the mail, with both fields in h=.',
        )
  // One signature must cover both; the one that lacks the fewest says what is missing.
  const [missing = []] = valid
    .map(({ signature }) => names.filter((name) => !signature!.signedFields.includes(name)))
    .toSorted((a, b) => a.length - b.length)
  return missing.length === 0
    ? passed('A valid DKIM signature covers the fields.')
    : failed(
        `The DKIM signature does not cover ${listed(missing)}, so receivers ignore one-click unsubscribing.`,
        `Add ${missing.join(' and ')} to the signed fields (h=; OpenDKIM: SignHeaders *,+list-unsubscribe,+list-unsubscribe-post).`,
      )
}

const WORDS =
  /unsubscribe|opt[ -]?out|abmelden|abbestellen|austragen|désabonner|desabonner|se désinscrire|darse de baja|cancelar suscripci|disiscriv|cancella iscrizione|afmelden|uitschrijven|avsluta prenumeration|avregistrera|wypisz|odhlásit|отписаться|退订|配信停止/i

function checkBodyLink(facts: MailFacts): Outcome {
  if (facts.values('list-unsubscribe').length === 0) return notChecked(NO_FIELD)
  const own = new Set(readUnsubscribe(facts).uris)
  const found =
    facts.links.some(
      ({ text, url }) => WORDS.test(text) || own.has(url) || /unsub|optout|opt-out/i.test(url),
    ) || WORDS.test(facts.text)
  return found
    ? passed('The text has a way to unsubscribe.')
    : failed(
        'The text has no link to unsubscribe.',
        'Add a visible link to unsubscribe at the end of the text.',
      )
}

function checkListId(facts: MailFacts): Outcome {
  const [value] = facts.values('list-id')
  if (value === undefined) return notChecked('The mail has no List-Id. Mailing lists have one.')
  return /<[^\s<>]+\.[^\s<>]+>\s*$/.test(value)
    ? passed(`List-Id is ${quoted(value)}.`)
    : failed(`List-Id is ${quoted(value)}.`, 'Write it as “Name <list.example.com>”.')
}

function checkAutoReply(facts: MailFacts): Outcome {
  const precedence = facts.values('precedence')[0]?.trim().toLowerCase()
  const isBulk = facts.values('list-unsubscribe').length > 0 || facts.values('list-id').length > 0
  if (precedence === undefined || ['bulk', 'list', 'junk'].includes(precedence))
    return precedence === 'junk'
      ? failed('Precedence is junk.', 'Remove the field, or write “bulk”.')
      : passed(
          isBulk ? 'The mail is marked as mail to many.' : 'The mail has no unusual Precedence.',
        )
  return failed(
    `Precedence is ${quoted(precedence)}.`,
    'Write “bulk” or “list”, or remove the field.',
  )
}

export const BULK_CHECKS: MailCheck[] = [
  {
    id: 'unsubscribe',
    group,
    severity: 'note',
    title: 'List-Unsubscribe',
    rule: 'Mail to many has a List-Unsubscribe field.',
    source: 'RFC 2369, 3.2; Google Email sender guidelines',
    run: checkUnsubscribe,
  },
  {
    id: 'unsubscribe-syntax',
    group,
    severity: 'hurts',
    title: 'Form of List-Unsubscribe',
    rule: 'List-Unsubscribe has URLs in angle brackets.',
    source: 'RFC 2369, 2',
    run: checkSyntax,
  },
  {
    id: 'one-click',
    group,
    severity: 'hurts',
    title: 'Fields of one-click unsubscribing',
    rule: 'List-Unsubscribe has an https URL, and List-Unsubscribe-Post says One-Click.',
    source: 'RFC 8058, 3; Google Email sender guidelines',
    run: checkOneClick,
  },
  {
    id: 'one-click-signed',
    group,
    severity: 'hurts',
    title: 'Signature of List-Unsubscribe',
    rule: 'A valid DKIM signature covers both fields.',
    source: 'RFC 8058, 4',
    run: checkSigned,
  },
  {
    id: 'unsubscribe-link',
    group,
    severity: 'hurts',
    title: 'Link to unsubscribe',
    rule: 'The text has a visible way to unsubscribe.',
    source: 'Google Email sender guidelines',
    run: checkBodyLink,
  },
  {
    id: 'list-id',
    group,
    severity: 'note',
    title: 'List-Id',
    rule: 'List-Id, if present, is well-formed.',
    source: 'RFC 2919, 3',
    run: checkListId,
  },
  {
    id: 'precedence',
    group,
    severity: 'note',
    title: 'Precedence',
    rule: 'Precedence, if present, is a known word.',
    source: 'RFC 3834, 3.1.8',
    run: checkAutoReply,
  },
]
