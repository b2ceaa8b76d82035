import { useQuery, useQueryClient } from '@tanstack/react-query'
import { AppealList } from '../attacks/appeal-list.tsx'
import { attacks, holdQuery, type Hold } from '../attacks/api.ts'
import { AttackViews } from '../attacks/attack-views.tsx'
import { CandidateList } from '../attacks/candidate-list.tsx'
import { RangeSection } from '../attacks/range-section.tsx'
import { accountQuery } from '../queries.ts'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Page, Section } from '../ui/layout/page.tsx'
import { counted, numberText } from '../ui/text/format.ts'

export function Screen() {
  const { data: account } = useQuery(accountQuery)
  return (
    <Page wide title="Administration of attack reporting">
      <AttackViews />
      {account?.admin ? <Rooms /> : <Notice tone="unknown">Only administrators can see this.</Notice>}
    </Page>
  )
}

function Rooms() {
  const { data: hold } = useQuery(holdQuery)
  return (
    <>
      {hold && !hold.approved && <Held {...hold} />}
      <Section title="Appeals">
        <AppealList />
      </Section>
      <Section title="Waiting for confirmation">
        <CandidateList />
      </Section>
      <RangeSection
        list="whitelist"
        title="Never listed"
        words="Ranges of resolvers, search engines and other machines that many depend on."
        empty="No range is exempt."
      />
      <RangeSection
        list="sensors"
        title="Sensors"
        words="Your own servers and honeypots. What they report counts from the start: they are the seed of a young list."
        empty="There is no sensor."
      />
    </>
  )
}

function Held({ countBefore, countAfter }: NonNullable<Hold>) {
  const queries = useQueryClient()

  async function publish(): Promise<void> {
    await attacks.approveHold()
    await queries.invalidateQueries(holdQuery)
  }

  return (
    <Notice tone="warn" title="A new list is held back">
      <p>
        It would go from {counted(countBefore, 'address', 'addresses')} to {numberText(countAfter)} at once. That may be
        an attack on the list itself: look at who reports before you publish it.
      </p>
      <div>
        <ConfirmButton
          label="Publish it"
          about="the list that is held back"
          title="Publish the list?"
          kind="plain"
          keep="Hold it back"
          onConfirm={publish}
        >
          Whoever takes the list blocks by it within minutes.
        </ConfirmButton>
      </div>
    </Notice>
  )
}
