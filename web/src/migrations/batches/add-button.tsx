import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { showToast } from '../../toasts.ts'
import { Button } from '../../ui/actions/button.tsx'
import { CheckField } from '../../ui/forms/form.tsx'
import { Dialog } from '../../ui/layout/dialog.tsx'
import { useAccess } from '../../workspaces/roles.ts'
import { batches, type ListDraft } from './api.ts'
import classes from './batches.module.css'
import { ListForm } from './list-form.tsx'
import { form as messages } from './messages.ts'

/** A button that opens a form to add mailboxes, or to update passwords from a corrected list. */
export function AddButton({ id }: { id: string }) {
  const access = useAccess()
  const queries = useQueryClient()
  const dialog = useRef<HTMLDialogElement>(null)
  const [isLinkOpen, setOpen] = useState(false)

  async function add(list: ListDraft, values: Record<string, string>): Promise<void> {
    const existing = values['existing'] === 'on' ? 'update' : 'reject'
    const { added, updated, invalid } = await batches.add(id, { ...list, existing })
    await queries.invalidateQueries({ queryKey: ['batches', 'one', id] })
    showToast({ text: messages.added(added, updated, invalid) })
    dialog.current?.close()
  }

  return (
    <>
      <Button
        {...access}
        icon="plus"
        onClick={() => {
          setOpen(true)
          dialog.current?.showModal()
        }}
      >
        {messages.add}
      </Button>
      <Dialog ref={dialog} label={messages.addTitle} onClose={() => setOpen(false)}>
        {isLinkOpen && (
          <div className={classes.dialog}>
            <ListForm
              submit={messages.addSubmit}
              onSubmit={add}
              after={<CheckField name="existing" label={messages.updateExisting} />}
            />
          </div>
        )}
      </Dialog>
    </>
  )
}
