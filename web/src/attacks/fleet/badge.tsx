import { useQuery, useQueryClient } from '@tanstack/react-query'
import { serviceUrl } from '../../base-path.ts'
import { Snippet } from '../../ui/actions/copy.tsx'
import { CheckField, Form } from '../../ui/forms/form.tsx'
import { Muted, Section } from '../../ui/layout/page.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { fleet, FLEET_KEY, settingsQuery } from './api.ts'
import { badge as messages } from './messages.ts'

/** A public image with the number of banned addresses, for those who want one. */
export function Badge() {
  const { data } = useQuery(settingsQuery)
  const access = useAccess()
  const queries = useQueryClient()

  async function save({ badge }: Record<string, string>): Promise<void> {
    await fleet.change({ badge: badge === 'on' })
    await queries.invalidateQueries({ queryKey: FLEET_KEY })
  }

  if (!data) return null
  const url = `${serviceUrl()}/api/v1/abuse/badges/${data.badgeId}.svg`
  return (
    <Section title={messages.title}>
      <p>
        <Muted>{messages.text}</Muted>
      </p>
      <Form {...access} key={data.badgeId} onSubmit={save} submit={messages.save}>
        <CheckField name="badge" label={messages.public} defaultChecked={data.badgeId !== null} />
      </Form>
      {data.badgeId !== null && (
        <>
          <p>
            <img src={url} alt={messages.alt} height={20} />
          </p>
          <Snippet what={messages.what} text={`![${messages.alt}](${url})`} />
        </>
      )}
    </Section>
  )
}
