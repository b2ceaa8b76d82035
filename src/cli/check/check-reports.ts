import type {
  BlacklistItem,
  BlacklistResult,
  DnsResult,
  MailAuthResult,
  TlsResult,
} from '../../diagnostics/shapes.ts'
import { field, sanitizeForTerminal, pad, paint, table } from '../text.ts'

const good = (text: string) => paint('green', text)
const bad = (text: string) => paint(['bold', 'red'], text)
const doubtful = (text: string) => paint('yellow', text)
const quiet = (text: string) => paint('dim', text)

/** The records of a domain, grouped by type. */
export function dnsReport(data: DnsResult): string {
  const types = [
    ['A', data.a],
    ['AAAA', data.aaaa],
    ['CNAME', data.cname],
    ['MX', data.mx.map(({ exchange, priority }) => `${priority} ${exchange}`)],
    ['NS', data.ns],
    ['TXT', data.txt],
    ['CAA', data.caa.map(({ flags, tag, value }) => `${flags} ${tag} "${value}"`)],
    ['SOA', data.soa ? [`${data.soa.mname} ${data.soa.rname} ${data.soa.serial}`] : []],
  ] as const
  const rows = types.flatMap(([type, values]) => {
    const error = data.errors[type.toLowerCase()]
    return error
      ? [[quiet(type), doubtful(`lookup failed: ${error}`)]]
      : field(type, values.map(sanitizeForTerminal))
  })
  const verdict =
    data.status === 'NXDOMAIN' ? bad('Domain not found (NXDOMAIN).') : good('Domain found.')
  return [heading(data.unicodeDomain, verdict), table(rows), ...warnings(data.warnings)].join('\n')
}

/** A certificate and its connection. */
export function tlsReport(data: TlsResult): string {
  const days = `${data.daysRemaining} days left`
  const rows = [
    ...field('Subject', sanitizeForTerminal(data.subject['CN'] ?? 'no common name')),
    ...field(
      'Issuer',
      sanitizeForTerminal([data.issuer['O'], data.issuer['CN']].filter(Boolean).join(', ')),
    ),
    ...field('Names', data.subjectAltNames.map(sanitizeForTerminal)),
    ...field(
      'Valid',
      `${data.validFrom.slice(0, 10)} to ${data.validTo.slice(0, 10)}, ${data.isExpired ? bad('expired') : days}`,
    ),
    ...field('Key', `${data.keyType ?? 'unknown'} ${data.keyBits ?? ''}`.trim()),
    ...field(
      'Chain',
      data.chain.map(({ subject }) => sanitizeForTerminal(subject['CN'] ?? subject['O'] ?? '?')),
    ),
    ...field('Connection', `${data.protocol}, ${data.cipher.name}, ${data.handshakeMs} ms`),
    ...field('Serial', data.serialNumber),
    ...field('SHA-256', data.fingerprint256),
  ]
  const verdict = data.authorized
    ? good(`The certificate is valid for ${data.domain}.`)
    : bad(`The certificate is not trusted for ${data.domain}: ${data.authorizationError}.`)
  return [
    heading(`${data.domain} port ${data.port}`, verdict),
    table(rows),
    ...warnings(data.warnings),
  ].join('\n')
}

const MARKS = { listed: bad('listed '), unknown: doubtful('unknown'), clean: good('clean  ') }

/** One list's answer, on one line. */
export function blacklistRow(item: BlacklistItem): string {
  const why =
    item.status === 'listed'
      ? [item.codes.join(' '), item.reason ?? item.meanings.join('; ')].join('  ')
      : (item.detail ?? '')
  const name = pad(sanitizeForTerminal(item.dnsbl), 34)
  return `  ${MARKS[item.status]}  ${pad(quiet(item.category), 13)}  ${item.status === 'clean' ? quiet(name) : name}  ${sanitizeForTerminal(why)}`.trimEnd()
}

/** The verdict with the counts, and the removal page of each listing. */
export function blacklistSummary(data: BlacklistResult): string {
  const { ip, totalChecked, listedCount, cleanCount, unknownCount } = data
  const listed = data.blacklists.filter((item) => item.listed)
  const counts = `${listedCount} listed, ${cleanCount} clean, ${unknownCount} unknown of ${totalChecked} lists in ${data.durationMs} ms`
  const verdict =
    listedCount > 0
      ? bad(`${ip} is on ${listedCount} ${listedCount === 1 ? 'blocklist' : 'blocklists'}.`)
      : unknownCount > 0
        ? doubtful(
            `No listing found, but ${unknownCount} of ${totalChecked} lists gave no usable answer.`,
          )
        : good(`${ip} is on none of ${totalChecked} blocklists.`)
  const links = listed.map((item) => [
    item.name,
    item.delistUrl ? quiet(sanitizeForTerminal(item.delistUrl)) : quiet('no removal page'),
  ])
  return [
    '',
    `  ${verdict}  ${quiet(counts)}`,
    ...(links.length > 0 ? [table(links)] : []),
    ...warnings(data.warnings),
  ].join('\n')
}

/** DMARC, SPF, DKIM and the related records, then the fixes. */
export function mailAuthReport(data: MailAuthResult): string {
  const { dmarc, spf, dkim, mtaSts, tlsRpt, bimi } = data
  const keys = dkim.filter((item) => item.found || item.error)
  const none = `none under ${data.dkimSelectorsTried} common selectors; set yours with --selector`
  const rows = [
    ...field('DMARC', recordOf(dmarc)),
    ...field(
      '',
      dmarc.tagsExplained.map(({ tag, value, meaning }) =>
        quiet(
          `${sanitizeForTerminal(tag)}=${sanitizeForTerminal(value)}  ${sanitizeForTerminal(meaning)}`,
        ),
      ),
      '',
    ),
    ...(dmarc.inheritedFrom ? field('', quiet(`inherited from ${dmarc.inheritedFrom}`)) : []),
    ...field('SPF', recordOf(spf)),
    ...(spf.found
      ? field('', quiet(`${spf.lookups} of 10 lookups, ${spf.voidLookups} of 2 void lookups`))
      : []),
    ...(spf.senders?.length ? field('', spf.senders.map(senderOf)) : []),
    ...field('DKIM', keys.map(keyOf), none),
    ...field(
      'MTA-STS',
      recordOf(mtaSts) + (mtaSts.policy?.mode ? quiet(`  mode ${mtaSts.policy.mode}`) : ''),
    ),
    ...field('TLS-RPT', recordOf(tlsRpt)),
    ...field('BIMI', recordOf(bimi)),
  ]
  const errors = data.warnings.filter(({ severity }) => severity === 'error').length
  const verdict =
    errors > 0
      ? bad(`${errors} ${errors === 1 ? 'error' : 'errors'} found.`)
      : good('No errors found.')
  return [heading(data.unicodeDomain, verdict), table(rows), '', ...data.warnings.flatMap(advice)]
    .join('\n')
    .trimEnd()
}

type LookedUp = { found: boolean; record: string | null; error?: string }

function recordOf({ found, record, error }: LookedUp): string {
  if (error) return doubtful(`lookup failed: ${error}`)
  return found ? sanitizeForTerminal(record ?? '') : quiet('not found')
}

function senderOf({
  ip,
  result,
  term,
  reason,
  explanation,
}: NonNullable<MailAuthResult['spf']['senders']>[number]): string {
  const mark = result === 'pass' ? good(result) : result === 'fail' ? bad(result) : doubtful(result)
  const why = [
    term && `by ${sanitizeForTerminal(term)}`,
    reason && sanitizeForTerminal(reason),
    explanation && `“${sanitizeForTerminal(explanation)}”`,
  ]
  return `${ip}  ${mark}  ${quiet(why.filter(Boolean).join(', '))}`
}

function keyOf(item: MailAuthResult['dkim'][number]): string {
  const { selector, keyType = '', keyBits, revoked, testing, error } = item
  if (error) return `${sanitizeForTerminal(selector)}  ${doubtful(`lookup failed: ${error}`)}`
  const facts = [
    keyBits ? `${keyType} ${keyBits}` : keyType,
    revoked && 'revoked',
    testing && 'testing',
    item.provider,
  ]
  return `${sanitizeForTerminal(selector)}  ${quiet(facts.filter(Boolean).join(', '))}`
}

const SEVERITY_MARKS = { error: bad('✗'), warning: doubtful('!'), info: quiet('i') }

function advice({ severity, message, publish }: MailAuthResult['warnings'][number]): string[] {
  const record = publish
    ? [`      ${publish.name}  TXT  "${sanitizeForTerminal(publish.value)}"`]
    : []
  return [`  ${SEVERITY_MARKS[severity]} ${sanitizeForTerminal(message)}`, ...record.map(quiet)]
}

function heading(what: string, verdict: string): string {
  return `\n  ${paint('bold', what)}  ${verdict}\n`
}

function warnings(sentences: string[]): string[] {
  return sentences.length > 0
    ? ['', ...sentences.map((sentence) => `  ${doubtful('!')} ${sanitizeForTerminal(sentence)}`)]
    : []
}
