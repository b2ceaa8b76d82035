import { Button } from '../ui/actions/button.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { dismissLostWorkspace, useLostWorkspace } from '../workspace-choice.ts'
import classes from './lost-workspace.module.css'
import { lost as messages } from './messages.ts'

/** Says above the screen that the chosen workspace is gone, until it is dismissed. */
export function LostWorkspace() {
  const isLost = useLostWorkspace() > 0
  return (
    <div role="alert" className={classes.lost}>
      {isLost && (
        <Notice tone="warn">
          <p>{messages.text}</p>
          <div>
            <Button size="small" onClick={dismissLostWorkspace}>
              {messages.dismiss}
            </Button>
          </div>
        </Notice>
      )}
    </div>
  )
}
