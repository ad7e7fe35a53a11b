import type { Words } from './en.ts';

export const fr: Words = {
  languageName: 'Français',
  unsubscribe: 'Se désinscrire',
  unsubscribeQuestion: 'Voulez-vous ne plus recevoir ces e-mails ?',
  unsubscribeListQuestion: 'Voulez-vous ne plus recevoir les e-mails de « {list} » ?',
  unsubscribeAllQuestion:
    'Voulez-vous ne plus recevoir aucune newsletter ni offre de cet expéditeur ?',
  unsubscribeButton: 'Me désinscrire',
  unsubscribed: 'Vous êtes désinscrit',
  unsubscribedText: 'Vous ne recevrez plus ces e-mails. Vous pouvez fermer cette page.',
  unsubscribedAllText:
    'Vous ne recevrez plus ni newsletters ni offres de cet expéditeur. Vous pouvez fermer cette page.',
  managePreferences: 'Modifier toutes mes préférences',
  confirm: 'Confirmez votre inscription',
  confirmQuestion: 'Voulez-vous recevoir les e-mails de « {list} » ?',
  confirmButton: 'Oui, je m’inscris',
  confirmed: 'Vous êtes inscrit',
  confirmedText:
    'Merci. Vous recevrez désormais les e-mails ; vous pouvez vous désinscrire à tout moment.',
  expired: 'Ce lien a expiré',
  expiredText:
    'La confirmation est arrivée trop tard. Remplissez à nouveau le formulaire pour recevoir un nouvel e-mail.',
  preferences: 'Vos préférences d’e-mail',
  lists: 'Quels e-mails voulez-vous recevoir ?',
  noLists: 'Il n’y a rien à choisir.',
  pending: 'en attente de votre confirmation',
  blocked: 'ne peut pas être livré à votre adresse',
  language: 'Langue',
  timezone: 'Fuseau horaire',
  notSet: 'non défini',
  save: 'Enregistrer',
  saved: 'Vos modifications sont enregistrées.',
  leaveAll: 'Me désinscrire de tout',
  leftAll: 'Vous êtes désinscrit de tout.',
  subscribed: 'Merci',
  subscribedText:
    'S’il s’agit de votre première inscription, vous recevrez un e-mail pour confirmer votre adresse.',
  proof: 'Encore une étape',
  proofText:
    'Appuyez sur le bouton. Votre navigateur fait alors un petit calcul, qui montre qu’aucun robot n’a rempli le formulaire.',
  proofButton: 'S’inscrire',
  proofScript:
    'Cette étape nécessite JavaScript. Autorisez-le pour cette page et remplissez à nouveau le formulaire.',
  badForm: 'Le formulaire n’a pas pu être envoyé',
  badFormText: 'Veuillez revenir en arrière et vérifier votre adresse e-mail.',
  badLink: 'Ce lien ne fonctionne pas',
  badLinkText: 'Il est peut-être incomplet. Ouvrez à nouveau le lien entier depuis l’e-mail.',
  tryLater: 'Veuillez réessayer',
  tryLaterText: 'Cela n’a pas fonctionné. Réessayez dans une minute.',
  tryAgain: 'Réessayer',
  mailGone: 'Cet e-mail n’est plus conservé',
  mailGoneText:
    'L’expéditeur ne conserve les e-mails que pendant un temps limité. Vous pouvez toujours le lire dans votre boîte de réception.',
  previewLink: 'Ceci est un aperçu',
  previewLinkText: 'Dans l’e-mail, ce lien ouvre l’e-mail dans le navigateur.',
};
