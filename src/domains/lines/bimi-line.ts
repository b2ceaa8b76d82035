import { adviceOnBimi, missingForBimi } from '../../protocols/mail/bimi.ts'
import type { DomainContext } from '../domain-context.ts'
import { messagesOf, unanswered, unused, type Line, type LineResult } from './line.ts'

export const bimiLine: Line = { name: 'bimi', title: 'BIMI', check: checkBimi }

async function checkBimi(context: DomainContext): Promise<LineResult> {
  const [finding, { dmarc }] = await Promise.all([context.bimi(), context.dmarc()])
  const { name, records, error } = finding
  const [record] = records
  if (error) return unanswered('The BIMI record', error)
  if (!record || record.declined) return unused('The domain publishes no logo (BIMI).')
  const evidence = records.map(({ text }) => ({
    label: `${name} TXT`,
    value: text,
    state: 'good' as const,
  }))
  if (dmarc.error)
    return { ...unanswered('The DMARC record that BIMI needs', dmarc.error), evidence }
  const [problem] = messagesOf(adviceOnBimi(finding, dmarc))
  if (problem) return { state: 'warning', summary: problem, evidence }
  const missing = missingForBimi(record, dmarc)
  return missing.length > 0
    ? { state: 'warning', summary: `The logo needs ${missing.join(', and ')}.`, evidence }
    : { state: 'good', summary: 'The logo (BIMI) can be shown.', evidence }
}
