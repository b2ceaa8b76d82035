import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { domainCheckQuery, type DomainCheck } from '../domains/api.ts'
import { DomainBox } from '../domains/domain-box.tsx'
import { DomainHistory } from '../domains/domain-history.tsx'
import { FixList } from '../domains/fix-list.tsx'
import { LineList } from '../domains/line-list.tsx'
import { MailPath } from '../domains/mail-path.tsx'
import { domainPages as messages, lines as lineMessages } from '../domains/messages.ts'
import { WatchPanel } from '../domains/watch-panel.tsx'
import { LINE_COUNT } from '../domains/stages.ts'
import { LINE_TONES } from '../domains/tones.ts'
import { Button } from '../ui/actions/button.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { ProgressBar } from '../ui/feedback/progress-bar.tsx'
import { Page, Section } from '../ui/layout/page.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'
import { Ago } from '../ui/text/ago.tsx'

const NOTHING_YET: DomainCheck = { lines: [], report: null, receipt: null }

/** Everything about the mail of a domain: the verdict, the mail path, what to change, and why. */
export function Screen() {
  const { domain } = useParams({ from: '/own/domains/$domain' })
  const {
    data: check = NOTHING_YET,
    error,
    isFetching,
    refetch,
  } = useQuery(domainCheckQuery(domain))
  const again = () => void refetch()
  return (
    <Page
      title={check.report?.unicodeDomain ?? domain}
      above={<BackLink to="/domains">{messages.title}</BackLink>}
      aside={
        <Button busy={isFetching} onClick={again}>
          {messages.checkAgain}
        </Button>
      }
      wide
    >
      <DomainBox initial={domain} />
      {error && !isFetching ? (
        <Notice tone="unknown">{error.message}</Notice>
      ) : (
        <>
          <Verdict check={check} />
          <MailPath check={check} />
          {check.report && <WatchPanel domain={check.report.domain} />}
          {check.report && (
            <FixList domain={domain} fixes={check.report.fixes} onPublished={again} />
          )}
          <Section title={lineMessages.title}>
            <LineList lines={check.lines} />
          </Section>
          <DomainHistory domain={domain} />
        </>
      )}
    </Page>
  )
}

function Verdict({ check: { report, lines } }: { check: DomainCheck }) {
  return (
    <div role="status">
      {report ? (
        <Notice tone={LINE_TONES[report.verdict.state]}>
          <strong>{report.verdict.sentence}</strong>
          <p>
            {messages.checkedAt} <Ago at={report.checkedAt} />
          </p>
        </Notice>
      ) : (
        <Notice tone="info">
          <strong>{messages.checking}</strong>
          <ProgressBar
            label={messages.progress(lines.length, LINE_COUNT)}
            done={lines.length}
            total={LINE_COUNT}
          />
        </Notice>
      )}
    </div>
  )
}
