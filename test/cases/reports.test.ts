import { gzipSync } from 'node:zlib'
import { readReports } from '../../src/dmarc/intake/read-reports.ts'
import { runCases } from './run-cases.ts'

/**
 * The content of a file: `{report}` stands for a plain report, `{metadata}`, `{policy}` and `{record}`
 * for its parts. Each item of `gzip` is a member.
 */
type Input = { text?: string; gzip?: string[]; latin1?: string; name?: string; domain?: string }

const PARTS: Record<string, string> = {
  metadata:
    '<report_metadata><org_name>r.test</org_name><report_id>1</report_id><date_range><begin>1763596800</begin><end>1763683199</end></date_range></report_metadata>',
  policy: '<policy_published><domain>rep.test</domain><p>none</p></policy_published>',
  record:
    '<record><row><source_ip>192.0.2.1</source_ip><count>2</count><policy_evaluated><disposition>none</disposition><dkim>pass</dkim><spf>pass</spf></policy_evaluated></row><identifiers><header_from>rep.test</header_from></identifiers><auth_results><spf><domain>rep.test</domain><result>pass</result></spf></auth_results></record>',
}
PARTS['report'] = `<feedback>${PARTS['metadata']}${PARTS['policy']}${PARTS['record']}</feedback>`

function fill(text: string): string {
  return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => PARTS[name] ?? whole)
}

function bytesOf({ text, gzip, latin1 }: Input): Uint8Array {
  if (gzip)
    return Buffer.concat(
      gzip.map((part) => (part === '\r\n' ? Buffer.from(part) : gzipSync(fill(part)))),
    )
  return latin1 === undefined ? Buffer.from(fill(text ?? '')) : Buffer.from(fill(latin1), 'latin1')
}

/** What is stored of a file, and the reason for what is not. */
runCases('reports.json', async (input: Input) => {
  const { name = 'file', domain } = input
  const items = await Array.fromAsync(readReports(bytesOf(input), name, { domain }))
  return {
    items: items.map((item) => {
      if (item.kind === 'unread') return { reason: item.reason }
      if (item.kind === 'failure') return { kind: item.kind }
      const { begin, end } = item.report.dateRange
      const range = `${begin.toISOString()} ${end.toISOString()}`
      if (item.kind === 'tls') {
        const { organizationName, policies } = item.report
        return { organizationName, range, policies }
      }
      const { orgName, email, warnings, recordCount } = item.report
      const [record] = item.parts.flatMap(({ json }) => JSON.parse(json) as unknown[])
      return { orgName, email, range, warnings, recordCount, record }
    }),
  }
})
