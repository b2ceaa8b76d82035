import type { ReactNode } from 'react'
import { Notice } from '../ui/feedback/notice.tsx'
import { Ago } from '../ui/text/ago.tsx'
import type { DomainReport } from './api.ts'
import { domainPages as messages } from './messages.ts'
import { LINE_TONES } from './tones.ts'

type VerdictProps = { report: DomainReport; children?: ReactNode }

/** The verdict of a check and its time. */
export function VerdictNotice({ report: { verdict, checkedAt }, children }: VerdictProps) {
  return (
    <Notice tone={LINE_TONES[verdict.state]}>
      <strong>{verdict.sentence}</strong>
      <p>
        {messages.checkedAt} <Ago at={checkedAt} />
      </p>
      {children}
    </Notice>
  )
}
