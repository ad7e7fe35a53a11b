import type { Words } from './en.ts';

export const it: Words = {
  languageName: 'Italiano',
  unsubscribe: 'Annulla l’iscrizione',
  unsubscribeQuestion: 'Vuoi smettere di ricevere queste e-mail?',
  unsubscribeListQuestion: 'Vuoi smettere di ricevere le e-mail di “{list}”?',
  unsubscribeAllQuestion:
    'Vuoi smettere di ricevere tutte le newsletter e le offerte di questo mittente?',
  unsubscribeButton: 'Annulla l’iscrizione',
  unsubscribed: 'Iscrizione annullata',
  unsubscribedText: 'Non riceverai più queste e-mail. Puoi chiudere questa pagina.',
  unsubscribedAllText:
    'Non riceverai più newsletter né offerte da questo mittente. Puoi chiudere questa pagina.',
  managePreferences: 'Cambia tutte le mie preferenze',
  confirm: 'Conferma la tua iscrizione',
  confirmQuestion: 'Vuoi ricevere le e-mail di “{list}”?',
  confirmButton: 'Sì, iscrivimi',
  confirmed: 'Iscrizione confermata',
  confirmedText:
    'Grazie. Da ora in poi riceverai le e-mail; puoi annullare l’iscrizione in qualsiasi momento.',
  expired: 'Questo link è scaduto',
  expiredText:
    'La conferma è arrivata troppo tardi. Compila di nuovo il modulo per ricevere una nuova e-mail.',
  preferences: 'Le tue preferenze e-mail',
  lists: 'Quali e-mail vuoi ricevere?',
  noLists: 'Non c’è nulla da scegliere.',
  pending: 'in attesa della tua conferma',
  blocked: 'non può essere recapitata al tuo indirizzo',
  language: 'Lingua',
  timezone: 'Fuso orario',
  notSet: 'non impostato',
  save: 'Salva',
  saved: 'Le modifiche sono state salvate.',
  leaveAll: 'Annulla tutte le iscrizioni',
  leftAll: 'Tutte le iscrizioni sono state annullate.',
  subscribed: 'Grazie',
  subscribedText:
    'Se è la prima volta che ti iscrivi, riceverai un’e-mail per confermare il tuo indirizzo.',
  proof: 'Ancora un passo',
  proofText:
    'Prema il pulsante. Il Suo browser fa allora un piccolo calcolo, che mostra che nessun robot ha compilato il modulo.',
  proofButton: 'Iscriversi',
  proofScript:
    'Questo passo richiede JavaScript. Lo consenta per questa pagina e compili di nuovo il modulo.',
  badForm: 'Non è stato possibile inviare il modulo',
  badFormText: 'Torna indietro e controlla il tuo indirizzo e-mail.',
  badLink: 'Questo link non funziona',
  badLinkText: 'Potrebbe essere incompleto. Apri di nuovo il link intero dall’e-mail.',
  tryLater: 'Riprova',
  tryLaterText: 'Al momento non è stato possibile. Riprova tra un minuto.',
  tryAgain: 'Riprova',
  mailGone: 'Questa email non è più conservata',
  mailGoneText:
    'Il mittente conserva le email solo per un tempo limitato. Può ancora leggerla nella Sua casella di posta.',
  previewLink: 'Questa è un’anteprima',
  previewLinkText: 'Nell’email questo link apre l’email nel browser.',
};
