import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useCallback, useMemo, useState, type ReactNode } from 'react'
import { ShareActions } from '../check/share-bar.tsx'
import { watchQuery, type DomainCheck, type DomainReport } from '../domains/api.ts'
import classes from '../domains/checking.module.css'
import { DomainHistory } from '../domains/domain-history.tsx'
import { DomainLinks } from '../domains/domain-links.tsx'
import { DomainTabs } from '../domains/domain-tabs.tsx'
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
import { Muted, Page, Section } from '../ui/layout/page.tsx'
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
      <Tabs domain={report?.domain ?? domain} />
      {error && !isFetching ? (
        <>
          <Notice tone="unknown">{error.message}</Notice>
          <WatchPanel onlyWatched domain={domain} />
        </>
      ) : (
        <>
          <Verdict report={report} isChecking={isFetching} done={done} />
          <MailPath check={check} />
          <WatchedAround domain={report?.domain ?? domain} onChanged={again}>
            <Fixes check={check} done={done} onPublished={again} printed={plan?.fixes} />
          </WatchedAround>
          {report && (
            <ShareActions
              results={receipt === null ? [] : [{ check: 'domain', data: { ...report }, receipt }]}
              isChecking={isFetching}
            />
          )}
          <Section title={lineMessages.title}>
            <LineList lines={check.lines} plan={plan} isOwn />
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

type FixesProps = {
  check: DomainCheck
  done: number
  onPublished: () => void
  printed: number | undefined
}

/** What to publish: the records that are known so far, and in the end everything to fix. */
function Fixes({ check: { fixes, report }, done, onPublished, printed }: FixesProps) {
  const { domain } = useParams({ from: '/own/domains/$domain' })
  if (report) return <FixList report={report} onPublished={onPublished} printed={printed} />
  return (
    <div className={classes.fixes}>
      {fixes !== null && fixes.length > 0 ? (
        <>
          <FixList report={{ domain, fixes, lines: [] }} onPublished={onPublished} />
          <Muted>{messages.stillChecking(LINE_COUNT - done)}</Muted>
        </>
      ) : (
        <Loading slow shape="cards" lines={3}>
          {messages.fixesPending}
        </Loading>
      )}
    </div>
  )
}

type WatchedAroundProps = { domain: string; onChanged: () => void; children: ReactNode }

/** The offer to watch the domain above its fixes; below them what can be done with a watched one. */
function WatchedAround({ domain, onChanged, children }: WatchedAroundProps) {
  const { data: watch, isPending } = useQuery(watchQuery(domain))
  // The panel stays where it is when it is used.
  const [wasWatched, setWasWatched] = useState<boolean | null>(null)
  // As high as what follows, so that the list of checks stays below the window.
  if (isPending) return <div className={classes.fixes} />
  const isBelow = wasWatched ?? watch?.isWatched ?? false
  if (wasWatched === null) setWasWatched(isBelow)
  const panel = (
    <div data-unprinted>
      <WatchPanel domain={domain} onWatched={onChanged} />
    </div>
  )
  return (
    <>
      {!isBelow && panel}
      {children}
      {isBelow && panel}
      <div data-unprinted>
        <DomainLinks domain={domain} onReports={onChanged} />
      </div>
    </>
  )
}

/** The screens of the domain; those about its reports once they are received. */
function Tabs({ domain }: { domain: string }) {
  const { data: watch, isPending } = useQuery(watchQuery(domain))
  const id = isPending ? undefined : (watch?.dmarcDomainId ?? null)
  return <DomainTabs domain={domain} id={id} />
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
