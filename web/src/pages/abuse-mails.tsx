import { useQuery, useQueryClient } from '@tanstack/react-query'
import {
  abuseMails,
  ABUSE_MAILS_KEY,
  mailSettingsQuery,
  type AbuseMailSettings,
} from '../attacks/mails/api.ts'
import { MailTable } from '../attacks/mails/mail-table.tsx'
import { abuseMails as messages } from '../attacks/mails/messages.ts'
import { LoadingOrError } from '../ui/feedback/loading.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Form, SelectField } from '../ui/forms/form.tsx'
import { Muted, Page, Section } from '../ui/layout/page.tsx'
import { useAccess } from '../workspaces/roles.ts'

export function Screen() {
  const { data, error } = useQuery(mailSettingsQuery)
  return (
    <Page title={messages.title} lead={messages.lead}>
      <LoadingOrError there={data} error={error} lines={3}>
        {messages.loading}
      </LoadingOrError>
      {data && (
        <Section title={messages.settings}>
          {data.canSend ? (
            <SettingsForm key={data.mode} settings={data} />
          ) : (
            <Notice tone="unknown">{messages.noRelay}</Notice>
          )}
        </Section>
      )}
      {data && data.contact !== null && <MailTable />}
    </Page>
  )
}

const MODES = (['off', 'test', 'on'] as const).map((value) => ({
  value,
  label: messages.modes[value],
}))

function SettingsForm({ settings: { mode, contact, bounces } }: { settings: AbuseMailSettings }) {
  const access = useAccess('admin')
  const queries = useQueryClient()

  async function save({ mode: chosen = 'off' }: Record<string, string>): Promise<void> {
    await abuseMails.change(chosen as AbuseMailSettings['mode'])
    await queries.invalidateQueries({ queryKey: ABUSE_MAILS_KEY })
  }

  return (
    <Form {...access} onSubmit={save} submit={messages.save}>
      <SelectField name="mode" label={messages.mode} choices={MODES} defaultValue={mode} />
      <p>
        <Muted>{contact === null ? messages.newContact : messages.contact(contact)}</Muted>
      </p>
      <Muted>{messages.bounces[bounces]}</Muted>
    </Form>
  )
}
