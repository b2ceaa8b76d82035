import { useQueryClient } from '@tanstack/react-query'
import { AreaField, Form } from '../ui/forms/form.tsx'
import { Disclosure } from '../ui/layout/disclosure.tsx'
import { Card, Muted, Section, Stack } from '../ui/layout/page.tsx'
import { useAccess } from '../workspaces/roles.ts'
import { delisting, delistingQuery, type Delisting } from './api.ts'
import { isExplained, isNotRequested } from './delisting-status.ts'
import { causeAndFix as messages } from './messages.ts'

/** Cause and fix, once for all lists: open until both are there, and as long as a list needs them. */
export function CauseAndFix({ of }: { of: Delisting }) {
  if (!of.steps.some(isNotRequested)) return null
  return (
    <Section title={messages.title}>
      {isExplained(of) ? (
        <Disclosure summary={messages.change}>
          <CauseAndFixForm of={of} />
        </Disclosure>
      ) : (
        <Card>
          <Stack>
            <Muted>{messages.why}</Muted>
            <CauseAndFixForm of={of} />
          </Stack>
        </Card>
      )}
    </Section>
  )
}

function CauseAndFixForm({ of }: { of: Delisting }) {
  const access = useAccess()
  const queries = useQueryClient()

  async function save({ cause = '', fix = '' }: Record<string, string>): Promise<void> {
    const changed = await delisting.explain(of.id, { cause: cause.trim(), fix: fix.trim() })
    queries.setQueryData(delistingQuery(of.id).queryKey, changed)
  }

  return (
    <Form guarded {...access} onSubmit={save} check={findMissing} submit={messages.save}>
      <AreaField
        prose
        name="cause"
        label={messages.cause}
        placeholder={messages.causeExample}
        rows={2}
        defaultValue={of.cause ?? ''}
      />
      <AreaField
        prose
        name="fix"
        label={messages.fix}
        placeholder={messages.fixExample}
        rows={2}
        defaultValue={of.fix ?? ''}
      />
    </Form>
  )
}

function findMissing({ cause = '', fix = '' }: Record<string, string>): Record<string, string> {
  return {
    ...(cause.trim() === '' && { cause: messages.enterCause }),
    ...(fix.trim() === '' && { fix: messages.enterFix }),
  }
}
