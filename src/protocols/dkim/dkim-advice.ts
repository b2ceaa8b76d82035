import { joinItems, txtRecord, type Advice, type Publish, type Severity } from '../advice.ts'
import { listItems } from '../tag-list.ts'
import type { DkimKey } from './dkim-key.ts'
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
    ...sizeAdvice(keys),
    ...aliasAdvice(domain, probe.findings),
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
  const mended = key.mended === null ? undefined : txtRecord(name, key.mended)
  const refused = (problem: string) =>
    error(`Receivers reject the key of selector ${selector}: ${problem}.`, mended)
  advice.push(...key.errors.map(refused))
  if (key.testing && key.errors.length === 0) {
    const message = `Selector ${selector} is in test mode (t=y), so receivers may treat its mail as unsigned. Remove t=y.`
    advice.push(warning(message, txtRecord(name, withoutTesting(key))))
  }
  return advice
}

/** One sentence for all keys of a size. */
function sizeAdvice(keys: SelectorFinding[]): Advice[] {
  const sized = keys.filter(({ key }) => key?.keyType === 'rsa' && key.bits !== null)
  const bySize = Map.groupBy(sized, ({ key }) => key?.bits ?? 0)
  return [...bySize].flatMap(([bits, findings]) => {
    const names = joinItems(findings.map(({ selector }) => selector))
    const which =
      findings.length === 1
        ? `The key of selector ${names} has ${bits} bits`
        : `The keys of selectors ${names} have ${bits} bits`
    return sizeProblem(which, bits)
  })
}

function sizeProblem(which: string, bits: number): Advice[] {
  if (bits > MAX_KEY_BITS) {
    const message = `${which}. Receivers do not have to support more than ${MAX_KEY_BITS} (RFC 8301). Use a key of ${RECOMMENDED_KEY_BITS} bits.`
    return [info(message)]
  }
  if (bits >= RECOMMENDED_KEY_BITS) return []
  const next = `Create a key of ${RECOMMENDED_KEY_BITS} bits with another selector, and revoke this one when all mail is signed with the new key.`
  if (bits < MIN_KEY_BITS) return [error(`${which}. Receivers reject it. ${next}`)]
  return [warning(`${which}, fewer than RFC 8301 recommends. ${next}`)]
}

function withoutTesting({ tags }: DkimKey): string {
  const kept = tags.flatMap(({ name, value }) => {
    const flags =
      name === 't' ? listItems(value, ':').filter((flag) => flag.toLowerCase() !== 'y') : [value]
    return flags.length > 0 ? [`${name}=${flags.join(':')}`] : []
  })
  return kept.join('; ')
}

/** Aliases without a key behind them: set up here, but not at the provider. */
function aliasAdvice(domain: string, findings: SelectorFinding[]): Advice[] {
  const open = findings.filter(({ alias, key, error: failure }) => alias && !key && !failure)
  const [first, ...others] = open
  if (!first) return []
  const end = 'Turn on DKIM at the provider, or remove the alias.'
  if (others.length === 0) {
    const name = `${first.selector}._domainkey.${domain}`
    return [warning(`${name} is an alias for ${first.alias}, which has no key. ${end}`)]
  }
  const names = joinItems(open.map(({ selector, alias }) => `${selector} (${alias})`))
  return [warning(`Selectors of ${domain} are aliases of names that have no key: ${names}. ${end}`)]
}

function absenceAdvice({ domain, probe, asked, usesMail }: About): Advice[] {
  // Any selector finds that key.
  if (probe.wildcard && !probe.wildcard.revoked) return []
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
