import { useQuery, useQueryClient } from '@tanstack/react-query'
import { AppealList } from '../attacks/appeal-list.tsx'
import { attacks, holdQuery, type Hold } from '../attacks/api.ts'
import { CandidateList } from '../attacks/candidate-list.tsx'
import { administration as messages, appeals, candidates, ranges } from '../attacks/messages.ts'
import { OptOutList } from '../attacks/mails/opt-out-list.tsx'
import { optOuts } from '../attacks/mails/messages.ts'
import { RangeSection } from '../attacks/range-section.tsx'
import { accountQuery } from '../queries.ts'
import { ConfirmButton } from '../ui/actions/confirm.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Columns, Page, Section } from '../ui/layout/page.tsx'

export function Screen() {
  const { data: account } = useQuery(accountQuery)
  return (
    <Page wide title={messages.title}>
      {account?.admin ? <Sections /> : <Notice tone="unknown">{messages.denied}</Notice>}
    </Page>
  )
}

function Sections() {
  const { data: hold } = useQuery(holdQuery)
  return (
    <>
      {hold && !hold.approved && <Held {...hold} />}
      <Section title={appeals.title}>
        <AppealList />
      </Section>
      <Section title={candidates.title}>
        <CandidateList />
      </Section>
      <Columns>
        <RangeSection
          list="whitelist"
          title={ranges.allowlist}
          text={ranges.allowlistText}
          empty={ranges.allowlistEmpty}
        />
        <RangeSection
          list="sensors"
          title={ranges.sensors}
          text={ranges.sensorsText}
          empty={ranges.sensorsEmpty}
        />
      </Columns>
      <Section title={optOuts.title}>
        <OptOutList />
      </Section>
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
    <Notice tone="warn" title={messages.held}>
      <p>{messages.heldText(countBefore, countAfter)}</p>
      <div>
        <ConfirmButton
          label={messages.publish}
          about={messages.publishAbout}
          title={messages.publishTitle}
          kind="plain"
          keep={messages.hold}
          onConfirm={publish}
        >
          {messages.publishText}
        </ConfirmButton>
      </div>
    </Notice>
  )
}
