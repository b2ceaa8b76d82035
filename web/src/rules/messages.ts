/** Actions of a rule in a list whose order counts. */
export const actions = {
  edit: 'Edit',
  cancel: 'Cancel',
  up: 'Move up',
  down: 'Move down',
  delete: 'Delete',
  on: 'On',
} as const
