import { Fragment, type ReactNode } from 'react'
import { Notice } from '../ui/feedback/notice.tsx'
import { Ago } from '../ui/text/ago.tsx'
import type { DomainLine, DomainReport, LineState } from './api.ts'
import { verdictInNumbers } from '../../../src/domains/messages.ts'
import { domainPages as messages } from './messages.ts'
import { LINE_TONES } from './tones.ts'

type VerdictProps = { report: DomainReport; children?: ReactNode }

/** The verdict of a check and its time. */
export function VerdictNotice({ report: { verdict, checkedAt, lines }, children }: VerdictProps) {
  const of = (state: LineState) => lines.filter((line) => line.state === state)
  const [bad, warnings, unknown] = [of('bad'), of('warning'), of('unknown')]
  const isOpen = bad.length + warnings.length + unknown.length > 0
  return (
    <Notice tone={LINE_TONES[verdict.state]}>
      <strong>
        {isOpen ? verdictInNumbers(bad.length, warnings.length, unknown.length) : verdict.sentence}
      </strong>
      {isOpen && <LineLinks lines={[...(bad.length > 0 ? bad : warnings), ...unknown]} />}
      <p>
        {messages.checkedAt} <Ago at={checkedAt} />
      </p>
      {children}
    </Notice>
  )
}

/** The checks that the verdict counts, each a link to what it found. */
function LineLinks({ lines }: { lines: DomainLine[] }) {
  return (
    <p>
      {lines.map(({ name, title }, index) => (
        <Fragment key={name}>
          {index > 0 && ', '}
          <a href={`#line-${name}`}>{title}</a>
        </Fragment>
      ))}
    </p>
  )
}
