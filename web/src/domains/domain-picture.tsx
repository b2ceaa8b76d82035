import { Section } from '../ui/layout/page.tsx'
import type { DomainReport } from './api.ts'
import { FixList } from './fix-list.tsx'
import { LineList } from './line-list.tsx'
import { MailPath } from './mail-path.tsx'
import { lines as messages } from './messages.ts'
import { planPrint } from './print-plan.ts'
import { VerdictNotice } from './verdict-notice.tsx'

/** A whole check as it was, to read and print: verdict, mail path, records to publish, all lines. */
export function DomainPicture({ report }: { report: DomainReport }) {
  const plan = planPrint(report)
  return (
    <>
      <VerdictNotice report={report} />
      <MailPath check={{ report, fixes: report.fixes, lines: report.lines, receipt: null }} />
      <FixList report={report} printed={plan.fixes} />
      <Section title={messages.title}>
        <LineList lines={report.lines} plan={plan} />
      </Section>
    </>
  )
}
