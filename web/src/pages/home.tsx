import { useQuery } from '@tanstack/react-query'
import { CheckBox } from '../check/check-box.tsx'
import { FirstSteps } from '../overview/first-steps.tsx'
import { Lately } from '../overview/lately.tsx'
import { NeedList } from '../overview/need-list.tsx'
import { needsOf, underWayOf, verdictOf } from '../overview/needs.ts'
import { UnderWay } from '../overview/under-way.tsx'
import { useThings } from '../overview/use-things.ts'
import { Watched } from '../overview/watched.tsx'
import { accountQuery } from '../queries.ts'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page } from '../ui/layout/page.tsx'
import { Loading } from '../ui/feedback/loading.tsx'

/** What needs the person, before anything else; then what goes on, what is watched, and what happened. */
export function Screen() {
  const { data: account } = useQuery(accountQuery)
  const { things, isNew, problems } = useThings()
  const greeting = account?.name ? `Good to see you, ${account.name}` : 'Good to see you'
  if (!things) {
    return (
      <Page title="Overview">
        <Loading lines={4}>Looking around …</Loading>
      </Page>
    )
  }
  // Who has begun nothing misses nothing yet.
  const needs = isNew ? [] : needsOf(things)
  return (
    <Page title={isNew ? greeting : verdictOf(needs)}>
      {problems.map((problem) => (
        <Notice key={problem} tone="unknown">
          {problem}
        </Notice>
      ))}
      {needs.length > 0 && <NeedList needs={needs} />}
      <CheckBox />
      <UnderWay {...underWayOf(things)} />
      <Watched hosts={things.hosts} />
      <Lately />
      <FirstSteps isNew={isNew} />
    </Page>
  )
}
