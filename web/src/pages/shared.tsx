import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { sharedQuery, type Shared } from '../check/api.ts'
import { findCheckKind } from '../check/kinds/check-kinds.ts'
import { check as checkMessages, shared as messages } from '../check/messages.ts'
import { CheckResult } from '../check/check-result.tsx'
import type { DomainReport } from '../domains/api.ts'
import { DomainPicture } from '../domains/domain-picture.tsx'
import { Button } from '../ui/actions/button.tsx'
import { DateText, ExactTime } from '../ui/text/date-text.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Card, Page, Section, Muted } from '../ui/layout/page.tsx'
import { Loading } from '../ui/feedback/loading.tsx'

/** The name of the whole check of a domain. */
const DOMAIN_CHECK = 'domain'

/** Results this close together show one common time. */
const SAME_TIME_MS = 60_000

export function Screen() {
  const { token } = useParams({ from: '/open/shared/$token' })
  const { data: shared, error } = useQuery(sharedQuery(token))
  if (error) {
    return (
      <Page title={messages.notFound} lead={error.message}>
        <p>
          <Link to="/">{messages.home}</Link>
        </p>
      </Page>
    )
  }
  if (!shared) return <Loading lines={5}>{messages.loading}</Loading>
  return (
    <Page
      title={checkMessages.titleOf(shared.target)}
      aside={
        <Button size="small" kind="quiet" onClick={() => window.print()}>
          {messages.print}
        </Button>
      }
    >
      <Results shared={shared} />
      <p>
        <Muted>{messages.current}</Muted>{' '}
        {shared.results.some(({ check }) => check === DOMAIN_CHECK) ? (
          <Link to="/domains/$domain" params={{ domain: shared.target }}>
            {messages.checkAgain(shared.target)}
          </Link>
        ) : (
          <Link to="/check" search={{ q: shared.target }}>
            {messages.checkAgain(shared.target)}
          </Link>
        )}
      </p>
    </Page>
  )
}

function Results({ shared: { results, createdAt, expiresAt } }: { shared: Shared }) {
  const first = results.map(({ madeAt }) => madeAt).toSorted()[0] ?? createdAt
  const isOneTime = results.every(
    ({ madeAt }) => Date.parse(madeAt) - Date.parse(first) < SAME_TIME_MS,
  )
  return (
    <>
      <Notice tone="info">
        <p>
          {messages.asOf} <ExactTime at={first} />. {messages.snapshot} <DateText at={expiresAt} />.
        </p>
      </Notice>
      {results.map(({ check, data, madeAt }) =>
        check === DOMAIN_CHECK ? (
          <DomainPicture key={check} report={data as DomainReport} />
        ) : (
          <SharedResult key={check} name={check} data={data} madeAt={isOneTime ? null : madeAt} />
        ),
      )}
    </>
  )
}

function SharedResult({
  name,
  data,
  madeAt,
}: {
  name: string
  data: unknown
  madeAt: string | null
}) {
  const kind = findCheckKind(name)
  if (!kind) return null
  return (
    <Section title={kind.title} aside={madeAt && <ExactTime at={madeAt} />}>
      <Card>
        <CheckResult kind={kind} answer={{ data, receipt: '' }} />
      </Card>
    </Section>
  )
}
