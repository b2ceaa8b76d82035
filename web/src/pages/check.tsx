import { useQueries } from '@tanstack/react-query'
import { Navigate, useSearch } from '@tanstack/react-router'
import { checkQuery } from '../check/api.ts'
import { CheckField } from '../check/check-field.tsx'
import { checksFor } from '../check/kinds/check-kinds.ts'
import { check as messages } from '../check/messages.ts'
import { CheckPanel } from '../check/check-panel.tsx'
import { ShareActions, shareableResults, SharedResultList } from '../check/share-bar.tsx'
import { MonitorAction } from '../check/follow-up-actions.tsx'
import { guessTarget, targetText, type CheckTarget } from '../check/guess-target.ts'
import { ExactTime } from '../ui/text/date-text.tsx'
import { PrintOnly } from '../ui/layout/print-only.tsx'
import { Page } from '../ui/layout/page.tsx'

/** The field for everything, and single checks of a name. An address has a page of its own. */
export function Screen() {
  const { q = '' } = useSearch({ from: '/own/check' })
  const target = guessTarget(q)
  if (target?.kind === 'address' && target.port === undefined)
    return <Navigate replace to="/addresses/$ip" params={{ ip: target.name }} />
  return (
    <Page
      wide
      title={target ? messages.titleOf(targetText(target)) : messages.title}
      lead={target ? undefined : messages.lead}
    >
      <CheckField initial={q} autoFocus={!target} />
      {target ? <Panels key={targetText(target)} target={target} /> : <SharedResultList />}
    </Page>
  )
}

/**
 * The checks one below the other: each is shown once those above it are done, and what can be done
 * with the results at the end, so that nothing moves.
 */
function Panels({ target }: { target: CheckTarget }) {
  const text = targetText(target)
  const kinds = checksFor(target)
  const answers = useQueries({ queries: kinds.map((kind) => checkQuery(kind, text)) })
  const running = answers.findIndex(({ data, isError }) => !isError && !data?.receipt)
  const shown = running === -1 ? kinds : kinds.slice(0, running + 1)
  return (
    <>
      {shown.map((kind) => (
        <CheckPanel key={kind.name} kind={kind} target={text} />
      ))}
      {running === -1 && (
        // A further observer of a check that failed would run it again.
        <ShareActions results={shareableResults(kinds, answers)} isChecking={false}>
          <MonitorAction host={target.name} />
        </ShareActions>
      )}
      <PrintOnly>
        {messages.printedBy(window.location.host)} <ExactTime at={new Date().toISOString()} />
      </PrintOnly>
    </>
  )
}
