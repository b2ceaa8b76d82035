import { gzipSync } from 'node:zlib'

/** A record with the fields that a test needs; the others have defaults. */
export type Row = {
  ip?: string
  count?: number
  dkim?: 'pass' | 'fail'
  spf?: 'pass' | 'fail'
  disposition?: string
  from?: string
  reason?: { type: string; comment?: string }
  selector?: string
  /** The SPF identity and its bare result. */
  envelope?: [domain: string, result: string]
}

export type ReportSpec = {
  domain?: string
  org?: string
  id?: string
  /** Seconds since 1970. */
  begin?: number
  end?: number
  policy?: string
  rows?: Row[]
}

let count = 0
const DAY = 86_400

/** The start of a UTC day a number of days ago, in seconds. */
export function daysAgo(days: number): number {
  return Math.floor(Date.now() / 1000 / DAY) * DAY - days * DAY
}

/** Creates a unique aggregate report. */
export function aggregate(spec: ReportSpec = {}): string {
  count += 1
  const { domain = 'example.test', org = 'receiver.test', policy = 'none', rows = [{}] } = spec
  const { id = `report-${count}`, begin = daysAgo(1), end = begin + DAY - 1 } = spec
  return `<?xml version="1.0" encoding="UTF-8"?>
<feedback>
  <report_metadata><org_name>${org}</org_name><email>noreply@${org}</email><report_id>${id}</report_id>
    <date_range><begin>${begin}</begin><end>${end}</end></date_range></report_metadata>
  <policy_published><domain>${domain}</domain><adkim>r</adkim><aspf>r</aspf><p>${policy}</p><sp>${policy}</sp><pct>100</pct></policy_published>
${rows.map((row) => record(row, domain)).join('\n')}
</feedback>
`
}

function record(row: Row, domain: string): string {
  const {
    ip = '192.0.2.1',
    dkim = 'pass',
    spf = 'pass',
    disposition = 'none',
    from = domain,
    selector = 's1',
  } = row
  const [envelope, result] = row.envelope ?? [from, spf]
  const reason = row.reason
    ? `<reason><type>${row.reason.type}</type><comment>${row.reason.comment ?? ''}</comment></reason>`
    : ''
  return `  <record>
    <row><source_ip>${ip}</source_ip><count>${row.count ?? 1}</count>
      <policy_evaluated><disposition>${disposition}</disposition><dkim>${dkim}</dkim><spf>${spf}</spf>${reason}</policy_evaluated></row>
    <identifiers><header_from>${from}</header_from></identifiers>
    <auth_results><dkim><domain>${domain}</domain><selector>${selector}</selector><result>${dkim}</result></dkim>
      <spf><domain>${envelope}</domain><result>${result}</result></spf></auth_results>
  </record>`
}

export type MailSpec = {
  from?: string
  subject?: string
  attachment: string | Buffer
  type?: string
  fileName?: string
}

/** Creates an email as reporters send it: a few words, and the compressed report. */
export function mailWith({ attachment, ...spec }: MailSpec): string {
  const {
    from = 'noreply@receiver.test',
    subject = 'Report domain: example.test',
    type = 'application/gzip',
  } = spec
  const { fileName = 'receiver.test!example.test!1!2.xml.gz' } = spec
  const bytes = typeof attachment === 'string' ? gzipSync(attachment) : attachment
  const lines = bytes.toString('base64').match(/.{1,76}/g) ?? []
  return [
    `From: ${from}`,
    'To: reports@portreeve.test',
    `Subject: ${subject}`,
    'Date: Sat, 21 Nov 2026 06:00:00 +0000',
    `Message-ID: <${Date.now()}.${(count += 1)}@receiver.test>`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="b1"',
    '',
    '--b1',
    'Content-Type: text/plain',
    '',
    'This is an aggregate report.',
    '--b1',
    `Content-Type: ${type}; name="${fileName}"`,
    'Content-Transfer-Encoding: base64',
    `Content-Disposition: attachment; filename="${fileName}"`,
    '',
    ...lines,
    '--b1--',
    '',
  ].join('\r\n')
}

export type TlsSpec = { domain?: string; id?: string; successful?: number; failed?: number }

/** An SMTP TLS report. */
export function tlsReport({
  domain = 'example.test',
  successful = 10,
  failed = 1,
  ...spec
}: TlsSpec = {}): string {
  return JSON.stringify({
    'organization-name': 'Receiver',
    'date-range': {
      'start-datetime': '2026-11-20T00:00:00Z',
      'end-datetime': '2026-11-20T23:59:59Z',
    },
    'contact-info': 'tls@receiver.test',
    'report-id': spec.id ?? `tls-${(count += 1)}`,
    policies: [
      {
        policy: {
          'policy-type': 'sts',
          'policy-string': ['version: STSv1'],
          'policy-domain': domain,
          'mx-host': [`mx.${domain}`],
        },
        summary: {
          'total-successful-session-count': successful,
          'total-failure-session-count': failed,
        },
        'failure-details': [
          {
            'result-type': 'certificate-expired',
            'sending-mta-ip': '192.0.2.9',
            'receiving-mx-hostname': `mx.${domain}`,
            'failed-session-count': failed,
          },
        ],
      },
    ],
  })
}
