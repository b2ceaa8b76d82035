import { joinItems, txtRecord, type Advice, type Publish, type Severity } from '../advice.ts'
import { repairDkimKey, type DkimKey } from './dkim-key.ts'
import type { DkimProbe, SelectorFinding } from './probe-selectors.ts'
import type { Provider } from './dkim-selectors.ts'

type About = {
  domain: string
  probe: DkimProbe
  asked: string[]
  providers: Provider[]
  usesMail: boolean
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
    ...keys.flatMap((finding) => keyAdvice(domain, finding, finding.key as DkimKey)),
    ...probe.findings.flatMap((finding) => aliasAdvice(domain, finding)),
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

function keyAdvice(domain: string, { selector, texts }: SelectorFinding, key: DkimKey): Advice[] {
  const name = `${selector}._domainkey.${domain}`
  const advice: Advice[] = []
  if (texts.length > 1) {
    advice.push(
      error(`${name} has ${texts.length} keys, and receivers may use any of them. Keep one.`),
    )
  }
  if (key.revoked)
    advice.push(
      info(`The key of selector ${selector} is revoked (empty p). Signatures with it are invalid.`),
    )
  // With errors beyond syntax, receivers would still reject the repaired record.
  const isMendable = key.errors.length > 0 && key.errors.length === key.faults.length
  const mended = isMendable ? txtRecord(name, repairDkimKey(key)) : undefined
  const refused = (problem: string) =>
    error(`Receivers reject the key of selector ${selector}: ${problem}.`, mended)
  advice.push(...key.errors.map(refused))
  if (key.keyType === 'rsa' && key.bits !== null) advice.push(...sizeAdvice(selector, key.bits))
  if (key.testing) {
    const message = `Selector ${selector} is in test mode (t=y), so receivers may treat its mail as unsigned. Remove t=y.`
    advice.push(warning(message, txtRecord(name, withoutTesting(key))))
  }
  return advice
}

function sizeAdvice(selector: string, bits: number): Advice[] {
  if (bits > MAX_KEY_BITS) {
    const message = `The key of selector ${selector} has ${bits} bits. Receivers do not have to support more than ${MAX_KEY_BITS} (RFC 8301). Use a key of ${RECOMMENDED_KEY_BITS} bits.`
    return [info(message)]
  }
  if (bits >= RECOMMENDED_KEY_BITS) return []
  const next = `Create a key of ${RECOMMENDED_KEY_BITS} bits with another selector, and revoke this one when all mail is signed with the new key.`
  if (bits < MIN_KEY_BITS)
    return [error(`The key of selector ${selector} has ${bits} bits. Receivers reject it. ${next}`)]
  return [
    warning(
      `The key of selector ${selector} has ${bits} bits, fewer than RFC 8301 recommends. ${next}`,
    ),
  ]
}

function withoutTesting({ tags }: DkimKey): string {
  const kept = tags.flatMap(({ name, value }) => {
    const flags =
      name === 't' ? value.split(':').filter((flag) => flag.trim().toLowerCase() !== 'y') : [value]
    return flags.length > 0 ? [`${name}=${flags.join(':')}`] : []
  })
  return kept.join('; ')
}

/** An alias without a key behind it: set up here, but not at the provider. */
function aliasAdvice(
  domain: string,
  { selector, alias, key, error: failure }: SelectorFinding,
): Advice[] {
  if (alias === null || key || failure) return []
  const message = `${selector}._domainkey.${domain} is an alias for ${alias}, which has no key. Turn on DKIM at the provider, or remove the alias.`
  return [warning(message)]
}

function absenceAdvice({ domain, probe, asked, usesMail }: About): Advice[] {
  const tried = probe.findings.filter((finding) => finding.tried && !finding.error).length
  if (!usesMail) {
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
