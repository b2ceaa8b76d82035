import { useParams } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import { ShareActions } from '../check/share-bar.tsx'
import type { DomainReport } from '../domains/api.ts'
import classes from '../domains/checking.module.css'
import { DomainBox } from '../domains/domain-box.tsx'
import { DomainHistory } from '../domains/domain-history.tsx'
import { FixList } from '../domains/fix-list.tsx'
import { LineList } from '../domains/line-list.tsx'
import { MailPath } from '../domains/mail-path.tsx'
import {
  domainPages as messages,
  history as historyMessages,
  lines as lineMessages,
} from '../domains/messages.ts'
import { planPrint } from '../domains/print-plan.ts'
import { WatchPanel } from '../domains/watch-panel.tsx'
import { LINE_COUNT } from '../domains/stages.ts'
import { useDomainCheck } from '../domains/use-domain-check.ts'
import { VerdictNotice } from '../domains/verdict-notice.tsx'
import { Button } from '../ui/actions/button.tsx'
import { Loading } from '../ui/feedback/loading.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { ProgressBar } from '../ui/feedback/progress-bar.tsx'
import { PrintOnly } from '../ui/layout/print-only.tsx'
import { Page, Section } from '../ui/layout/page.tsx'
import { BackLink } from '../ui/navigation/back-link.tsx'

/** Everything about the mail of a domain: the verdict, the mail path, what to change, and why. */
export function Screen() {
  const { domain } = useParams({ from: '/own/domains/$domain' })
  const { check, done, error, isFetching, refetch } = useDomainCheck(domain)
  const { report, receipt } = check
  const again = useCallback(() => void refetch(), [refetch])
  const plan = useMemo(() => report && planPrint(report), [report])
  return (
    <Page
      title={report?.unicodeDomain ?? domain}
      above={<BackLink to="/domains">{messages.title}</BackLink>}
      aside={
        <Button busy={isFetching} onClick={again}>
          {messages.checkAgain}
        </Button>
      }
      wide
    >
      <DomainBox compact initial={domain} />
      {error && !isFetching ? (
        <>
          <Notice tone="unknown">{error.message}</Notice>
          <WatchPanel onlyWatched domain={domain} />
        </>
      ) : (
        <>
          <Verdict report={report} isChecking={isFetching} done={done} />
          <MailPath check={check} />
          {report && (
            <ShareActions
              results={receipt === null ? [] : [{ check: 'domain', data: { ...report }, receipt }]}
              isChecking={isFetching}
            />
          )}
          {report && (
            <div data-unprinted>
              <WatchPanel domain={report.domain} onWatched={again} />
            </div>
          )}
          {report ? (
            <FixList report={report} onPublished={again} printed={plan?.fixes} />
          ) : (
            <div className={classes.fixes}>
              <Loading slow shape="cards" lines={3}>
                {messages.fixesPending}
              </Loading>
            </div>
          )}
          <Section title={lineMessages.title}>
            <LineList lines={check.lines} plan={plan} />
          </Section>
          <div data-unprinted>
            <DomainHistory domain={domain} />
          </div>
          <PrintOnly>{historyMessages.notPrinted}</PrintOnly>
        </>
      )}
    </Page>
  )
}

type VerdictProps = { report: DomainReport | null; isChecking: boolean; done: number }

/** The verdict, and below it how far a check is. */
function Verdict({ report, isChecking, done }: VerdictProps) {
  const progress = (
    <ProgressBar label={messages.progress(done, LINE_COUNT)} done={done} total={LINE_COUNT} />
  )
  return (
    <div role="status" className={classes.verdict}>
      {report ? (
        <VerdictNotice report={report}>{isChecking && progress}</VerdictNotice>
      ) : (
        <Notice tone="info">
          <strong>{messages.checking}</strong>
          {progress}
        </Notice>
      )}
    </div>
  )
}
