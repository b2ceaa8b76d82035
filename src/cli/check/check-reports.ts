import type { DnsResult, MailAuthResult, TlsResult } from '../../diagnostics/shapes.ts'
import { daysUntil } from '../../diagnostics/tls/tls-warnings.ts'
import type { Verdict } from '../../diagnostics/check-verdict.ts'
import { field, sanitizeForTerminal, table } from '../terminal-text.ts'
import { bad, doubtful, good, heading, quiet, warningLines } from './report-parts.ts'

/** The records of a domain, grouped by type. */
export function dnsReport(data: DnsResult, verdict: Verdict): string {
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
  const records = data.status === 'NXDOMAIN' ? [] : [table(rows)]
  return [heading(data.unicodeDomain, verdict), ...records, ...warningLines(data.warnings)].join(
    '\n',
  )
}

/** A certificate and its connection. */
export function tlsReport(data: TlsResult, verdict: Verdict): string {
  const isOwn = daysUntil(new Date(data.validTo)) <= data.daysRemaining
  const days = `${data.daysRemaining} days left${isOwn ? '' : ' for its chain'}`
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
    ...(data.authorizationError
      ? field('Trust', bad(`not trusted (${data.authorizationError})`))
      : []),
    ...field('Key', `${data.keyType ?? 'unknown'} ${data.keyBits ?? ''}`.trim()),
    ...field(
      'Chain',
      data.chain.map(({ subject }) => sanitizeForTerminal(subject['CN'] ?? subject['O'] ?? '?')),
    ),
    ...field('Connection', `${data.protocol}, ${data.cipher.name}, ${data.handshakeMs} ms`),
    ...field('Serial', data.serialNumber),
    ...field('SHA-256', data.fingerprint256),
  ]
  return [
    heading(`${data.domain} port ${data.port}`, verdict),
    table(rows),
    ...warningLines(data.warnings),
  ].join('\n')
}

/** DMARC, SPF, DKIM and the related records, then the fixes. */
export function mailAuthReport(data: MailAuthResult, verdict: Verdict): string {
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
  return [
    heading(data.unicodeDomain, verdict),
    ...(data.status === 'NXDOMAIN' ? [] : [table(rows)]),
    '',
    ...data.truncated.map((omitted) => `  ${doubtful('!')} Not checked in time: ${omitted}`),
    ...data.warnings.flatMap(advice),
  ]
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
