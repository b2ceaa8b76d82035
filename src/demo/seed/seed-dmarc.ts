import { createResolver } from '../../net/dns.ts'
import { ingest } from '../../dmarc/intake/ingest.ts'
import { lookUpNames } from '../../dmarc/names/look-up-names.ts'
import { ADDRESSES } from '../recording.ts'
import { daysAgo, type Seed } from './seed-context.ts'
import { DAY_SECONDS, MINUTE_MS, isoDay } from '../../time.ts'

/** Messages of one source in one report. */
type Row = {
  ip: string
  count: number
  dkim?: 'pass' | 'fail'
  spf?: 'pass' | 'fail'
  selector?: string
  /** The envelope sender, where it is another domain, and its SPF result. */
  envelope?: [domain: string, result: string]
  /** The domain of the DKIM signature, where it is another one. */
  signer?: string
}

const REPORTERS = ['google.com', 'Enterprise Outlook', 'GMX', 'Yahoo'] as const
/** Days of reports, besides today. */
const DAYS = 90

/** Three months of DMARC reports, and a few days of reports on TLS. */
export async function seedDmarc({ call, db, workspaceId, config }: Seed): Promise<void> {
  type Created = { data: { id: string } }
  for (const domain of ['seagull.example', 'seagull-shop.example'])
    await call<Created>('/api/v1/dmarc/domains', { domain })
  const files: [name: string, text: string][] = []
  for (let day = DAYS; day >= 1; day--) {
    for (const [n, reporter] of REPORTERS.entries()) {
      // The small ones report only when they got something.
      if (n > 1 && (day * 7 + n) % 3 === 0) continue
      files.push(report('seagull.example', reporter, day, rowsOf(day, n)))
    }
    const shop = [{ ip: ADDRESSES.mail, count: 24 + ((day * 13) % 17) }]
    if (day < 55) files.push(report('seagull-shop.example', 'google.com', day, shop))
    if (day < 20) files.push(tlsReport(day))
  }
  const given = files.map(([name, text]) => ({ name, bytes: Buffer.from(text) }))
  const { rejected } = await ingest(db, { via: 'import', workspaceId }, given)
  if (rejected.length > 0) throw new Error(JSON.stringify(rejected))
  const resolver = createResolver({ servers: config.DNS_SERVERS })
  await lookUpNames(db, resolver, AbortSignal.timeout(MINUTE_MS))
  resolver.close()
}

/** What one reporter saw on a day; the larger ones see more. */
function rowsOf(day: number, reporter: number): Row[] {
  const share = [1, 0.45, 0.2, 0.12][reporter] ?? 0.1
  const weekday = daysAgo(day).getUTCDay()
  const isWeekend = weekday === 0 || weekday === 6
  const count = (most: number) => Math.max(1, Math.round(most * share * (isWeekend ? 0.4 : 1)))
  const noise = (day * 37 + reporter * 11) % 90
  const rows: Row[] = [{ ip: ADDRESSES.mail, count: count(310 + noise) }]
  // The newsletter on Thursdays, which the SPF record has only had for two months.
  if (weekday === 4)
    rows.push({
      ip: ADDRESSES.newsletter,
      count: Math.round((520 + noise * 2) * share),
      selector: 'news',
      spf: day > 62 ? 'fail' : 'pass',
      dkim: day > 62 ? 'fail' : 'pass',
    })
  rows.push({
    ip: ADDRESSES.forwarder,
    count: count(14),
    spf: 'fail',
    envelope: ['university.example', 'pass'],
  })
  // A new helpdesk that signs with its own domain.
  if (day < 24)
    rows.push({
      ip: ADDRESSES.helpdesk,
      count: count(38 + (noise % 20)),
      dkim: 'fail',
      spf: 'fail',
      envelope: ['bounce.helpdesk.example', 'pass'],
      signer: 'helpdesk.example',
    })
  if (reporter < 2 && day >= 9 && day <= 13)
    rows.push({ ip: ADDRESSES.spoofer, count: 160 - day * 4, dkim: 'fail', spf: 'fail' })
  return rows
}

function report(domain: string, reporter: string, day: number, rows: Row[]): [string, string] {
  const begin = Math.floor(daysAgo(day).getTime() / 1000 / DAY_SECONDS) * DAY_SECONDS
  const id = `${begin}.${reporter.length}${day}`
  const policy = domain === 'seagull.example' ? (day > 30 ? 'none' : 'quarantine') : 'reject'
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<feedback>
  <report_metadata><org_name>${reporter}</org_name><email>dmarc@reporter.example</email><report_id>${id}</report_id>
    <date_range><begin>${begin}</begin><end>${begin + DAY_SECONDS - 1}</end></date_range></report_metadata>
  <policy_published><domain>${domain}</domain><adkim>r</adkim><aspf>r</aspf><p>${policy}</p><sp>${policy}</sp><pct>100</pct></policy_published>
${rows.map((row) => record(row, domain, policy)).join('\n')}
</feedback>
`
  return [`${reporter.replace(' ', '-')}!${domain}!${begin}!${begin + DAY_SECONDS - 1}.xml`, text]
}

function record(row: Row, domain: string, policy: string): string {
  const { ip, count, dkim = 'pass', spf = 'pass', selector = '2026a', signer = domain } = row
  const [envelope, result] = row.envelope ?? [domain, spf]
  const disposition = dkim === 'pass' || spf === 'pass' ? 'none' : policy
  const signature = signer === domain && dkim === 'fail' ? 'fail' : 'pass'
  return `  <record>
    <row><source_ip>${ip}</source_ip><count>${count}</count>
      <policy_evaluated><disposition>${disposition}</disposition><dkim>${dkim}</dkim><spf>${spf}</spf></policy_evaluated></row>
    <identifiers><header_from>${domain}</header_from></identifiers>
    <auth_results><dkim><domain>${signer}</domain><selector>${selector}</selector><result>${signature}</result></dkim>
      <spf><domain>${envelope}</domain><result>${result}</result></spf></auth_results>
  </record>`
}

function tlsReport(day: number): [string, string] {
  const date = isoDay(daysAgo(day))
  const failed = day === 6 ? 3 : 0
  const policy = {
    policy: {
      'policy-type': 'sts',
      'policy-string': ['version: STSv1', 'mode: enforce', 'mx: mail.seagull.example'],
      'policy-domain': 'seagull.example',
      'mx-host': ['mail.seagull.example'],
    },
    summary: {
      'total-successful-session-count': 60 + ((day * 17) % 40),
      'total-failure-session-count': failed,
    },
    ...(failed > 0 && {
      'failure-details': [
        {
          'result-type': 'starttls-not-supported',
          'sending-mta-ip': '203.0.113.88',
          'receiving-mx-hostname': 'mail.seagull.example',
          'failed-session-count': failed,
        },
      ],
    }),
  }
  const text = JSON.stringify({
    'organization-name': 'Google Inc.',
    'date-range': { 'start-datetime': `${date}T00:00:00Z`, 'end-datetime': `${date}T23:59:59Z` },
    'contact-info': 'smtp-tls-reporting@google.com',
    'report-id': `${date}T00:00:00Z_seagull.example`,
    policies: [policy],
  })
  return [`google.com!seagull.example!${date}.json`, text]
}
