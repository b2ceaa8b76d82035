import {
  joinItems,
  shorten,
  txtRecord,
  type Advice,
  type Publish,
  type Severity,
} from '../advice.ts'
import { registeredDomain } from '../dmarc/public-suffix.ts'
import { listItems } from '../tag-list.ts'
import type { DkimKey } from './dkim-key.ts'
import type { DkimProbe, SelectorFinding } from './probe-selectors.ts'
import type { Provider } from './dkim-selectors.ts'

type About = {
  domain: string
  probe: DkimProbe
  asked: string[]
  providers: Provider[]
  sendsMail: boolean
}

/** RFC 8301, 3.2: the sizes that receivers must support, and that signers should use. */
const MIN_KEY_BITS = 1024
const RECOMMENDED_KEY_BITS = 2048
const MAX_KEY_BITS = 4096

/**
 * Lists problems of the DKIM keys that were found, or explains what it means when there are none.
 */
export function adviceOnDkim(about: About): Advice[] {
  const { domain, probe } = about
  const keys = probe.findings.filter(({ key, fromWildcard }) => key && !fromWildcard)
  return [
    ...wildcardAdvice(domain, probe),
    ...mergeNotes([
      ...keys.flatMap((finding) => keyNotes(domain, finding, finding.key as DkimKey)),
      ...probe.findings.flatMap((finding) => aliasNotes(domain, finding, probe.findings)),
    ]),
    ...(keys.length === 0 ? absenceAdvice(about) : []),
    ...failureAdvice(probe),
    ...unguessableAdvice(about),
  ]
}

const advise = (severity: Severity) => (message: string, publish?: Publish) =>
  ({ about: 'dkim', severity, message, publish }) satisfies Advice
const error = advise('error')
const warning = advise('warning')
const info = advise('info')

function wildcardAdvice(domain: string, { wildcard }: DkimProbe): Advice[] {
  // An empty key for any selector states that a domain signs nothing.
  if (wildcard === null || wildcard.revoked) return []
  return [
    warning(
      `Every name below _domainkey.${domain} returns the same key (a wildcard). Its owner can sign with any selector. Only selectors with another key are shown as found.`,
    ),
  ]
}

/** What is wrong with a selector, and the sentence for several of which it is true. */
type Note = {
  selector: string
  advice: Advice
  ofMany: (selectors: string) => string
}

/** Sentences that differ in the selector alone; with more, one sentence names all selectors. */
const MAX_REPEATED = 3

function mergeNotes(notes: Note[]): Advice[] {
  const kinds = Map.groupBy(notes, ({ ofMany }) => ofMany(''))
  return [...kinds.values()].flatMap((same) => {
    const [first] = same
    if (same.length <= MAX_REPEATED || !first) return same.map(({ advice }) => advice)
    const selectors = joinItems(same.map(({ selector }) => selector))
    return [advise(first.advice.severity)(first.ofMany(selectors))]
  })
}

function keyNotes(
  domain: string,
  { selector, texts, strays }: SelectorFinding,
  key: DkimKey,
): Note[] {
  const name = `${selector}._domainkey.${domain}`
  const note = (advice: Advice, ofMany: Note['ofMany']): Note => ({ selector, advice, ofMany })
  const notes: Note[] = []
  if (texts.length > 1) {
    const end = 'and receivers may use any of them. Keep one.'
    notes.push(
      note(
        error(`${name} has ${texts.length} keys, ${end}`),
        (all) => `The selectors ${all} have several keys each, ${end}`,
      ),
    )
  }
  if (strays.length > 0) {
    const end = 'and receivers may take it for the key. Remove it.'
    notes.push(
      note(
        error(`${name} has the TXT record “${shorten(strays[0] ?? '')}” beside the key, ${end}`),
        (all) => `The selectors ${all} have another TXT record beside the key, ${end}`,
      ),
    )
  }
  if (key.revoked)
    notes.push(
      note(
        info(
          `The key of selector ${selector} is revoked (empty p). Signatures with it are invalid.`,
        ),
        (all) =>
          `The keys of the selectors ${all} are revoked (empty p). Signatures with them are invalid.`,
      ),
    )
  const mended = key.mended === null ? undefined : txtRecord(name, key.mended)
  for (const problem of key.errors)
    notes.push(
      note(
        error(`Receivers reject the key of selector ${selector}: ${problem}.`, mended),
        (all) => `Receivers reject the keys of the selectors ${all}: ${problem}.`,
      ),
    )
  if (key.keyType === 'rsa' && key.bits !== null) notes.push(...sizeNotes(selector, key.bits))
  if (key.testing && key.errors.length === 0) {
    const end = 'in test mode (t=y), so receivers may treat the mail as unsigned. Remove t=y.'
    notes.push(
      note(
        warning(`Selector ${selector} is ${end}`, txtRecord(name, withoutTesting(key))),
        (all) => `The selectors ${all} are ${end}`,
      ),
    )
  }
  return notes
}

function sizeNotes(selector: string, bits: number): Note[] {
  const note = (create: typeof error, end: string): Note[] => [
    {
      selector,
      advice: create(`The key of selector ${selector} has ${bits} bits${end}`),
      ofMany: (all) => `The keys of the selectors ${all} have ${bits} bits${end}`,
    },
  ]
  if (bits > MAX_KEY_BITS)
    return note(
      info,
      `. Receivers do not have to support more than ${MAX_KEY_BITS} (RFC 8301). Use a key of ${RECOMMENDED_KEY_BITS} bits.`,
    )
  if (bits >= RECOMMENDED_KEY_BITS) return []
  const next = `Create a key of ${RECOMMENDED_KEY_BITS} bits with another selector, and revoke this one when all mail is signed with the new key.`
  return bits < MIN_KEY_BITS
    ? note(error, `. Receivers reject it. ${next}`)
    : note(warning, `, fewer than RFC 8301 recommends. ${next}`)
}

function withoutTesting({ tags }: DkimKey): string {
  const kept = tags.flatMap(({ name, value }) => {
    const flags =
      name === 't' ? listItems(value, ':').filter((flag) => flag.toLowerCase() !== 'y') : [value]
    return flags.length > 0 ? [`${name}=${flags.join(':')}`] : []
  })
  return kept.join('; ')
}

/**
 * An alias without a key behind it: set up here, but not at the provider, or the next selector of a
 * provider that rotates keys.
 */
function aliasNotes(
  domain: string,
  { selector, alias, key, error: failure }: SelectorFinding,
  findings: readonly SelectorFinding[],
): Note[] {
  if (alias === null || key || failure) return []
  const provider = registeredDomain(alias)
  const isSpare = findings.some(
    (other) => other.key && other.alias !== null && registeredDomain(other.alias) === provider,
  )
  if (provider !== null && isSpare) {
    const spare = 'A provider that rotates keys publishes the next one there.'
    const message = `${selector}._domainkey.${domain} is an alias for ${alias}, which has no key now. ${spare}`
    const ofMany = (all: string) => `The selectors ${all} are aliases of names without a key now. ${spare}` // prettier-ignore
    return [{ selector, advice: info(message), ofMany }]
  }
  const end = 'Turn on DKIM at the provider, or remove the alias.'
  const message = `${selector}._domainkey.${domain} is an alias for ${alias}, which has no key. ${end}`
  const ofMany = (all: string) => `The selectors ${all} are aliases of names without a key. ${end}`
  return [{ selector, advice: warning(message), ofMany }]
}

function absenceAdvice({ domain, probe, asked, sendsMail }: About): Advice[] {
  // Any selector finds that key.
  if (probe.wildcard && !probe.wildcard.revoked) return []
  const tried = probe.findings.filter((finding) => finding.tried && !finding.error).length
  if (!sendsMail) {
    const message =
      'This domain sends no mail. An empty wildcard key makes all DKIM signatures for it invalid.'
    return probe.wildcard ? [] : [info(message, txtRecord(`*._domainkey.${domain}`, 'v=DKIM1; p='))]
  }
  if (probe.nothingBelow && asked.length === 0) {
    const message = `Nothing exists below _domainkey.${domain}, so mail from this domain has no DKIM signature of its own.`
    return [warning(message)]
  }
  if (tried === 0) return []
  const where =
    asked.length > 0
      ? `No DKIM key found at ${joinItems(asked)} and the usual selectors.`
      : `No DKIM key found at ${tried} selectors.`
  return [
    warning(
      `${where} There may be one, because selectors cannot be listed. Find “s=” in the DKIM-Signature of a message you sent, and check that selector.`,
    ),
  ]
}

function failureAdvice({ findings }: DkimProbe): Advice[] {
  const failed = findings.filter((finding) => finding.error)
  if (failed.length === 0) return []
  const why = joinItems([...new Set(failed.map((finding) => String(finding.error)))])
  const which = joinItems(
    failed.map(({ selector }) => selector),
    5,
  )
  return [warning(`The keys at ${which} could not be looked up (${why}).`)]
}

function unguessableAdvice({ providers, asked }: About): Advice[] {
  if (asked.length > 0) return []
  return providers
    .filter(({ unguessable }) => unguessable !== undefined)
    .map(({ name, unguessable }) =>
      info(
        `${name} probably sends for this domain. Its selectors cannot be guessed (${unguessable}). Check yours by name.`,
      ),
    )
}
